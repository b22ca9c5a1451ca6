internal import Redis

/// A job as its stream has it.
struct StreamedJob: Sendable {
  let entry: String
  /// Nil for an entry without the field.
  let text: [UInt8]?

  /// The items of a reply to XRANGE.
  static func list(_ reply: RedisReply) -> [StreamedJob] {
    items(reply) { entry, fields in StreamedJob(entry: entry, text: job(fields).map { Array($0) }) }
  }

  /// As `list`, of each only its app by a glance: a wrong guess costs nobody more than a place in the queue.
  static func glances(at reply: RedisReply) -> [(entry: String, app: String)] {
    items(reply) { entry, fields in
      (entry, job(fields).map { app(in: $0) } ?? "")
    }
  }

  private static func items<Item>(
    _ reply: RedisReply, _ item: (String, RedisReply) -> Item
  ) -> [Item] {
    (0..<reply.count).compactMap { index in
      let part = reply[index]
      guard part.count == 2, EntryID(part[0].string) != nil else { return nil }
      return item(part[0].string, part[1])
    }
  }

  /// The last of that name, as the functions read it.
  private static func job(_ fields: RedisReply) -> UnsafeRawBufferPointer? {
    let name: StaticString = "job"
    var text: UnsafeRawBufferPointer?
    for place in stride(from: 0, to: fields.count - 1, by: 2)
    where fields[place].bytes.elementsEqual(name.bytes) {
      text = fields[place + 1].bytes
    }
    return text
  }

  private static func app(in text: UnsafeRawBufferPointer) -> String {
    let glance = StoreLimits.glanceBytes
    guard text.count > 2 * glance else { return firstApp(in: text) ?? "" }
    return firstApp(in: UnsafeRawBufferPointer(rebasing: text[..<glance]))
      ?? firstApp(in: UnsafeRawBufferPointer(rebasing: text[(text.count - glance)...])) ?? ""
  }

  /// The value of the first member "app" that looks like one.
  private static func firstApp(in text: UnsafeRawBufferPointer) -> String? {
    let name = ("\"app\"" as StaticString).bytes
    var from = 0
    while from + name.count < text.count {
      guard
        let quote = UnsafeRawBufferPointer(rebasing: text[from...]).offset(of: UInt8(ascii: "\""))
      else { return nil }
      from += quote
      if text.count - from > name.count, text[from + 1] == name[1],
        text[from...].starts(with: name), let app = value(behind: text[(from + name.count)...])
      {
        return app
      }
      from += 1
    }
    return nil
  }

  private static func value(behind name: Slice<UnsafeRawBufferPointer>) -> String? {
    func skippingSpace(_ text: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
      text.drop { $0 == 0x20 || (0x09...0x0d).contains($0) }
    }
    var rest = skippingSpace(name)
    guard rest.popFirst() == UInt8(ascii: ":") else { return nil }
    rest = skippingSpace(rest)
    guard rest.popFirst() == UInt8(ascii: "\"") else { return nil }
    let app = rest.prefix { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "-"):
        true
      default: false
      }
    }
    guard !app.isEmpty, rest.dropFirst(app.count).first == UInt8(ascii: "\"") else { return nil }
    return String(decoding: app, as: UTF8.self)
  }
}

extension StaticString {
  fileprivate var bytes: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: utf8Start, count: utf8CodeUnitCount)
  }
}

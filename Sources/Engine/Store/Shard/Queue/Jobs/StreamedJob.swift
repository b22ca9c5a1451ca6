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

  /// Lists the entries with each one's app, found by a glance, and the length of its text.
  static func glances(at reply: RedisReply) -> [(entry: String, app: String, bytes: Int)] {
    items(reply) { entry, fields in
      let text = job(fields)
      return (entry, text.map { app(in: $0) } ?? "", text?.count ?? 0)
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
    guard text.count > 2 * glance else { return outerApp(in: text) ?? "" }
    return outerApp(in: UnsafeRawBufferPointer(rebasing: text[..<glance]))
      ?? anyApp(in: UnsafeRawBufferPointer(rebasing: text[(text.count - glance)...])) ?? ""
  }

  /// The app of a job whose text begins here: the member "app" of the outermost object. A producer may have others within
  /// its content.
  private static func outerApp(in text: UnsafeRawBufferPointer) -> String? {
    var depth = 0
    var place = 0
    while place < text.count {
      switch text[place] {
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
      case UInt8(ascii: "\""):
        let first = place + 1
        place = first
        while place < text.count, text[place] != UInt8(ascii: "\"") {
          place += text[place] == UInt8(ascii: "\\") ? 2 : 1
        }
        if depth == 1, place < text.count, text[first..<place].elementsEqual(name.bytes),
          let app = value(behind: text[(place + 1)...])
        {
          return app
        }
      default: break
      }
      place += 1
    }
    return nil
  }

  /// The value of the first member "app", whatever it belongs to.
  private static func anyApp(in text: UnsafeRawBufferPointer) -> String? {
    var from = 0
    while from + name.bytes.count + 2 < text.count {
      guard
        let quote = UnsafeRawBufferPointer(rebasing: text[from...]).offset(of: UInt8(ascii: "\""))
      else { return nil }
      from += quote + 1
      let rest = text[from...]
      if rest.starts(with: name.bytes),
        rest.dropFirst(name.bytes.count).first == UInt8(ascii: "\""),
        let app = value(behind: rest.dropFirst(name.bytes.count + 1))
      {
        return app
      }
    }
    return nil
  }

  private static let name: StaticString = "app"

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

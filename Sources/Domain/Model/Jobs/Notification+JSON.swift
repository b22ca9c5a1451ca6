extension Notification {
  static let fields = [
    "title", "body", "badge", "sound", "category", "thread_id", "image", "content_available",
    "mutable_content", "data",
  ]

  init(json: JSONValue, at pointer: String) throws(InvalidField) {
    let reader = try FieldReader(json, at: pointer, known: Self.fields)
    self.init(
      title: try reader.string("title"),
      body: try reader.string("body"),
      badge: try Badge(reader),
      sound: try reader.boundedText("sound", bytesMax: Limits.soundBytesMax),
      category: try reader.boundedText("category", bytesMax: Limits.categoryBytesMax),
      threadID: try reader.boundedText("thread_id", bytesMax: Limits.categoryBytesMax),
      image: try Self.image(reader))
    contentAvailable = try reader.flag("content_available") ?? false
    mutableContent = try reader.flag("mutable_content") ?? false
    data = try Self.data(reader)
    guard hasContent else {
      throw InvalidField(
        pointer: pointer,
        message: "is empty: it needs a title, body, badge, sound, content_available or data")
    }
  }

  private static func image(_ reader: FieldReader) throws(InvalidField) -> String? {
    guard let url = try reader.boundedText("image", bytesMax: Limits.imageURLBytesMax) else {
      return nil
    }
    let scheme = "https://"
    guard url.hasPrefix(scheme), url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }),
      let first = url.utf8.dropFirst(scheme.utf8.count).first,
      TextRule.isLetterOrDigit(first) || first == UInt8(ascii: "[")
    else {
      throw reader.refused(
        "image",
        "must be an https:// URL without spaces, also in placeholders, and with other than ASCII characters "
          + "percent-encoded")
    }
    return url
  }

  private static func data(_ reader: FieldReader) throws(InvalidField) -> [DataEntry] {
    guard let object = try reader.map("data") else { return [] }
    return try DataEntry.entries(of: object, at: reader.pointer(to: "data"))
  }

  func json() -> JSONValue {
    var object = JSONObject()
    object.add(title.map { .string($0) }, for: "title")
    object.add(body.map { .string($0) }, for: "body")
    object.add(badge?.json(), for: "badge")
    object.add(sound.map { .string($0) }, for: "sound")
    object.add(category.map { .string($0) }, for: "category")
    object.add(threadID.map { .string($0) }, for: "thread_id")
    object.add(image.map { .string($0) }, for: "image")
    if contentAvailable { object.add(.bool(true), for: "content_available") }
    if mutableContent { object.add(.bool(true), for: "mutable_content") }
    if !data.isEmpty {
      var entries = JSONObject()
      for entry in data { entries[entry.name] = .string(entry.value) }
      object.add(.object(entries), for: "data")
    }
    return .object(object)
  }
}

extension Notification.DataEntry {
  /// Custom data: strings under names that are not reserved (`ReservedDataKeys`), in the order of the names' bytes.
  static func entries(
    of object: JSONObject, at pointer: @autoclosure () -> String
  ) throws(InvalidField) -> [Notification.DataEntry] {
    var entries: [Notification.DataEntry] = []
    entries.reserveCapacity(object.count)
    for member in object.members {
      func refused(_ message: String) -> InvalidField {
        InvalidField(pointer: FieldPointer.child(member.name, of: pointer()), message: message)
      }
      do { try TextRule.check(member.name, bytesMax: Limits.dataKeyBytesMax) } catch {
        throw refused("the name \(error.message)")
      }
      if let reason = ReservedDataKeys.reason(member.name) { throw refused(reason) }
      guard case .string(let text) = member.value else {
        throw refused(
          "must be a string, is \(member.value.kindName): "
            + "FCM carries strings only, so write it in quotes")
      }
      entries.append(Notification.DataEntry(name: member.name, value: text))
    }
    return entries.sorted { TextRule.precedes($0.name, $1.name) }
  }
}

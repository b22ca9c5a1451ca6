/// Names that custom data may not use: a network or a receiver gives them a meaning of its own.
package enum ReservedDataKeys {
  /// Reserved by APNs (`aps`) and by FCM's data messages.
  private static let networks = NameSet(["aps", "from", "message_type", "collapse_key"])
  private static let networkPrefixes = ["google", "gcm"]
  /// By these a receiver tells a topic message and a push-to-app event from a direct message.
  private static let events = NameSet(
    ["to"] + AppEventField.allCases.flatMap { [$0.shortName, $0.longName] })

  /// Why `name` is reserved; nil when it is free.
  package static func reason(_ name: String) -> String? {
    networkReason(name) ?? receiverReason(name)
  }

  /// Why the networks reserve `name`; nil when they do not.
  static func networkReason(_ name: String) -> String? {
    if networks.contains(name) { return "is reserved by the push networks: use another name" }
    if let prefix = networkPrefixes.first(where: { isPrefix($0, of: name) }) {
      return "begins with \"\(prefix)\", which FCM reserves: use another name"
    }
    return nil
  }

  /// By bytes: whoever reads the name looks at no characters.
  private static func isPrefix(_ prefix: String, of name: String) -> Bool {
    TextRule.withBytes(name) { bytes in
      TextRule.withBytes(prefix) { bytes.prefix($0.count).elementsEqual($0) }
    }
  }

  /// Why receivers give `name` a meaning of its own, whatever network brings it; nil when they do not.
  private static func receiverReason(_ name: String) -> String? {
    guard events.contains(name) else { return nil }
    return "is reserved for topic messages and push-to-app events: use another name"
  }

  /// Checks the names of what a job's own part for a network hands to the app.
  /// - Throws: the first that a receiver would take for a topic or an event.
  static func check(_ object: JSONObject, at pointer: String) throws(InvalidField) {
    for member in object.members {
      guard let reason = receiverReason(member.name) else { continue }
      throw InvalidField(pointer: FieldPointer.child(member.name, of: pointer), message: reason)
    }
  }
}

/// A few names that do not change, to be looked for byte for byte among those of the same length.
struct NameSet: Sendable {
  private let byLength: [[String]]

  init(_ names: [String]) {
    let lengthMax = names.reduce(0) { max($0, $1.utf8.count) }
    var byLength = [[String]](repeating: [], count: lengthMax + 1)
    for name in names { byLength[name.utf8.count].append(name) }
    self.byLength = byLength
  }

  func contains(_ name: String) -> Bool {
    let length = name.utf8.count
    return length < byLength.count && byLength[length].contains { TextRule.isSame($0, name) }
  }
}

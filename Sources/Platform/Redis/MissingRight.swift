/// A right that the ACL of Redis does not give (redis.io, "ACL").
package enum MissingRight: Equatable, Sendable {
  /// To run a command, as an ACL names it: `fcall`, `function|load`.
  case command(String)
  /// To reach a key. The pattern stands for it, as far as the command that was refused is known.
  case key(pattern: String?)
  /// Something else; the message says what.
  case other

  /// The right as an ACL rule gives it: `+function|load`, `~pushpool:user:*`.
  package var rule: String? {
    switch self {
    case .command(let name): "+\(name)"
    case .key(let pattern): pattern.map { "~\($0)" }
    case .other: nil
    }
  }
}

extension RedisError {
  /// Nil when it is another refusal, or none. The messages are those of Redis 7.0 and 8.2, and of Valkey 9.1.
  package var missingRight: MissingRight? {
    guard case .server(let code, let message) = self else { return nil }
    // Inside a function, whatever the code: which key it was is not told, nor is the command by each version.
    if Self.refusalsWithin.contains(where: message.hasPrefix) { return .other }
    guard code == "NOPERM" else { return nil }
    if let start = message.firstRange(of: "to run the '")?.upperBound,
      let end = message[start...].firstIndex(of: "'")
    {
      return .command(String(message[start..<end]))
    }
    guard message.contains("key") else { return .other }
    guard let start = message.firstRange(of: Self.keyMark)?.upperBound,
      let end = message[start...].lastIndex(of: ")")
    else { return .key(pattern: nil) }
    return .key(pattern: String(message[start..<end]))
  }

  private static let keyMark = " (the key "
  private static let refusalsWithin = [
    "The user executing the script can't ", "ACL failure in script: ",
  ]

  /// Adds which key it was to a refusal that leaves it out, as Redis does. Names of users and tokens are part of keys: they
  /// are left out.
  func naming(_ command: RedisCommand) -> RedisError {
    guard case .server(let code, let message) = self else { return self }
    let name: String?
    if code == "WRONGTYPE" {
      // Of a function only the prefix is known.
      name = command.key.flatMap { $0.contains(":") ? Self.pattern(of: $0, partsMax: 3) : nil }
    } else if missingRight == .key(pattern: nil) {
      name = command.key.map { Self.pattern(of: $0, partsMax: 2) }
    } else {
      name = nil
    }
    return name.map { .server(code: code, message: message + Self.keyMark + $0 + ")") } ?? self
  }

  /// The key of which Redis says that it holds another type than the command is for; nil when it is not known as a whole.
  package var wrongTypeKey: String? {
    guard case .server("WRONGTYPE", let message) = self,
      let start = message.firstRange(of: Self.keyMark)?.upperBound,
      let end = message[start...].lastIndex(of: ")"), !message[start..<end].hasSuffix("*")
    else { return nil }
    return String(message[start..<end])
  }

  /// A key as it may be told: of more parts than so many the second is the last. A key with three names no user.
  private static func pattern(of key: String, partsMax: Int) -> String {
    let parts = key.split(separator: ":", omittingEmptySubsequences: false)
    return parts.count > partsMax ? "\(parts[0]):\(parts[1]):*" : key
  }
}

extension RedisCommand {
  /// The first key. Nil for a command whose first argument is none.
  fileprivate var key: String? {
    let words = firstWords(4)
    guard let name = words.first?.uppercased(), words.count > 1 else { return nil }
    switch name {
    case "FCALL", "FCALL_RO": return words.count > 3 ? words[3] : nil
    case "XREAD", "XREADGROUP", "XGROUP", "XINFO", "OBJECT", "FUNCTION", "ACL", "CLIENT", "INFO":
      return nil
    default: return words[1]
    }
  }

  /// The first arguments as text, its name first; read from what is to be sent.
  private func firstWords(_ max: Int) -> [String] {
    var words: [String] = []
    var rest = body[...]
    while words.count < max, let line = rest.firstIndex(of: UInt8(ascii: "\r")) {
      guard
        let count = Int(String(decoding: rest[rest.startIndex..<line].dropFirst(), as: UTF8.self))
      else { break }
      let start = line + 2
      guard start + count + 2 <= rest.endIndex else { break }
      words.append(String(decoding: rest[start..<(start + count)], as: UTF8.self))
      rest = rest[(start + count + 2)...]
    }
    return words
  }
}

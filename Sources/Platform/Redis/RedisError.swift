/// Why a command has no result.
package enum RedisError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The server refused it; `code` is the first word of its message: NOSCRIPT, READONLY, WRONGTYPE, OOM…
  case server(code: String, message: String)
  /// The connection ended before the reply. The command may have been executed; it is never sent again by itself.
  case connectionLost(reason: String)
  /// No reply in time. The command may have been executed; the connection was discarded.
  case timeout
  /// The answer is no RESP, or over a limit; the connection was discarded.
  case protocolViolation(String)
  /// There is no connection now; the command was not sent.
  case unavailable(reason: String)
  /// `RedisLimits.pendingCommandsMax` or `outputBytesMax` is reached; the command was not sent.
  case tooManyPending
  /// The server was reached and cannot serve as things are: it has no functions, or one side speaks TLS and the other does
  /// not. The reason says what is needed. The command was not sent.
  case unsuitable(reason: String)
  /// The reply is not of the documented form.
  case unexpectedReply(String)

  /// Whether the same command can succeed later without anybody repairing anything.
  package var isTemporary: Bool {
    switch self {
    case .connectionLost, .timeout, .unavailable, .tooManyPending, .protocolViolation, .unsuitable:
      true
    case .server(let code, _):
      [
        "READONLY", "LOADING", "MASTERDOWN", "BUSY", "TRYAGAIN", "CLUSTERDOWN", "OOM", "MOVED",
        "ASK",
      ]
      .contains(code)
    case .unexpectedReply: false
    }
  }

  /// Whether it tells of Redis and its operator, and not of what the command is about: the same command succeeds once Redis can
  /// write again, or its user may.
  package var isPassing: Bool {
    guard case .server(let code, _) = self else { return isTemporary }
    return isTemporary
      || ["MISCONF", "NOREPLICAS", "NOPERM", "NOAUTH", "WRONGPASS"].contains(code)
  }

  package var description: String {
    switch self {
    case .server(let code, let message): "Redis refused: \(code) \(message)"
    case .connectionLost(let reason), .unsuitable(let reason):
      "there is no connection to Redis: \(reason)"
    case .timeout: "Redis did not answer in time"
    case .protocolViolation(let what): "Redis sent something unreadable: \(what)"
    case .unavailable(let reason): "Redis is not connected: \(reason)"
    case .tooManyPending: "too many commands wait for Redis"
    case .unexpectedReply(let what): "unexpected reply from Redis: \(what)"
    }
  }

  /// The reason, without the sentence around it.
  var bareReason: String {
    switch self {
    case .connectionLost(let reason), .unsuitable(let reason), .unavailable(let reason): reason
    case .server(let code, let message): "\(code) \(message)"
    case .timeout: "no answer in time"
    case .protocolViolation(let what), .unexpectedReply(let what): what
    case .tooManyPending: description
    }
  }

  /// The same with a remark, where it is about the way to the server and not about an answer of it.
  func explained(_ remark: String) -> RedisError {
    switch self {
    case .connectionLost(let reason): .connectionLost(reason: "\(reason) (\(remark))")
    case .unsuitable, .server, .timeout, .protocolViolation, .unavailable, .tooManyPending,
      .unexpectedReply:
      self
    }
  }

  /// From the text of an error reply. A server repeats the arguments of a command that it does not know: they are cut
  /// off, since a credential may be among them.
  static func server(reply text: String) -> RedisError {
    let text =
      text.firstRange(of: "with args beginning with").map { text[..<$0.lowerBound] } ?? text[...]
    let words = text.split(separator: " ", maxSplits: 1)
    return .server(
      code: words.first.map(String.init) ?? "", message: words.count > 1 ? String(words[1]) : "")
  }

  /// Whether the server does not know the command at all, as one that is too old.
  var isCommandUnknown: Bool {
    guard case .server("ERR", let message) = self else { return false }
    return message.hasPrefix("unknown command")
  }

  /// FCALL of a function that no loaded library has (Redis 7: "ERR Function not found").
  package var isFunctionMissing: Bool {
    guard case .server(_, let message) = self else { return false }
    return message.hasPrefix("Function not found")
  }
}

extension RedisError {
  /// Whether the command may have been executed all the same.
  package var mayHaveHappened: Bool {
    switch self {
    case .connectionLost, .timeout, .protocolViolation, .unexpectedReply: true
    case .server, .unavailable, .tooManyPending, .unsuitable: false
    }
  }
}

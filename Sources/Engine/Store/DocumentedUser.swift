package import Redis

/// The Redis users of docs/reference/redis.md, Redis users.
package enum DocumentedUser: String, Sendable, CaseIterable {
  case worker = "pushpool-worker"
  case `operator` = "pushpool-operator"
  case server = "pushpool-server"
  case producer = "pushpool-producer"
  case registrar = "pushpool-registrar"
  case reader = "pushpool-reader"
  case dashboard = "pushpool-dashboard"

  /// Says what to do about a refusal that is about who the caller is, or about the state of the server; nil for any
  /// other error.
  package func remedy(for error: RedisError) -> String? {
    guard case .server(let code, _) = error else { return nil }
    switch code {
    case "NOAUTH":
      return "it asks for a login: name a user and its password in the URL, as "
        + "redis://\(rawValue):PASSWORD@HOST"
    case "WRONGPASS":
      return "correct the user or the password in the URL, or in redis.password_file"
    default: break
    }
    guard let right = error.missingRight else { return error.remedy }
    let what = right.rule.map { "the right \($0)" } ?? "a right"
    // Who only reads calls functions that others have loaded.
    let holder =
      right == .command("function|load") && self != .worker && self != .server ? .operator : self
    return "\(what) is missing: the documented user \(holder.rawValue) has it "
      + "(docs/reference/redis.md, Redis users)"
  }

  /// The error, and what to do about it where that is known.
  package func explain(_ error: RedisError) -> String {
    error.described(with: remedy(for: error))
  }
}

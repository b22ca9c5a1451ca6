/// The reasons for which a server refuses AUTH, in words of our own: servers repeat the arguments of a command that
/// they do not know, and with them the password.
enum LoginRefusal {
  /// - Parameter passwordFields: where the configuration holds the password.
  static func error(
    for refusal: RedisError, user: String?,
    passwordFields: String = "redis.url or redis.password_file"
  ) -> RedisError {
    guard case .server(let code, let message) = refusal else { return refusal }
    let name = user.map { "the user \(printable($0))" } ?? "the default user"
    switch code {
    case "WRONGPASS":
      return .server(
        code: code,
        message: "\(name) is not known there, is switched off, or has another password (ACL LIST)")
    case "LOADING", "MASTERDOWN", "BUSY", "OOM", "NOPERM":
      return .server(code: code, message: "to the login of \(name)")
    // Said to whoever connects, whatever is asked first.
    case "DENIED": return refusal
    case "ERR" where message.hasPrefix(RedisError.tooManyClients): return refusal
    default:
      let isOpen =
        message.contains("without any password") || message.contains("no password is set")
      return .server(
        code: "ERR",
        message: isOpen
          ? "a password is configured here and none there: take it out of \(passwordFields)"
          : "the server does not take AUTH for \(name): is it a Redis of 7.0 or later?")
    }
  }

  private static func printable(_ name: String) -> String {
    String(name.unicodeScalars.map { (0x21..<0x7F).contains($0.value) ? Character($0) : "?" })
  }
}

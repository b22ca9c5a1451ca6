internal import Operations

extension Gatekeeper {
  /// Begins a browser's session for a caller who has shown a key.
  /// - Returns: the field `set-cookie`.
  func beginSession(for caller: Caller) async throws(Problem) -> String {
    switch caller.role {
    case .operatorLook, .operatorAct, .admin: break
    case .device, .server, nil:
      throw .forbidden(
        "a browser's session takes a key of the role operator-look, operator-act or admin")
    }
    try spend(.signIns, of: caller.name)
    let secret = RandomSecret.make()
    try await records.beginSession(secret, caller.name, clock.wallMs())
    return Self.cookie(secret, seconds: ServerLimits.sessionSeconds, isSecure: caller.isSecure)
  }

  /// Ends the session of a request, if it has one.
  /// - Parameter field: the request's field `cookie`.
  /// - Returns: the field `set-cookie`, by which the browser forgets it.
  func endSession(_ field: String?, isSecure: Bool) async throws(Problem) -> String {
    if let secret = field.flatMap(Credential.session(in:)) {
      try await records.endSession(secret)
      sessions.forget(secret)
    }
    return Self.cookie("", seconds: 0, isSecure: isSecure)
  }

  /// RFC 6265: scripts of the page do not see it, and requests of other sites do not carry it.
  private static func cookie(_ value: String, seconds: Int, isSecure: Bool) -> String {
    "\(Credential.cookieName)=\(value); Path=/; Max-Age=\(seconds); HttpOnly; SameSite=Strict"
      + (isSecure ? "; Secure" : "")
  }
}

/// Who answers the requests of server connections; every call comes on the loop.
package protocol ServerConnectionDelegate: AnyObject {
  /// TLS is settled and SETTINGS are queued.
  func connectionOpened(_ connection: ServerConnection)

  /// The header fields are there, the body is not: the place to answer early.
  func connection(_ connection: ServerConnection, receivedHeadersOf request: ServerRequest)

  /// The whole request is there, unless it was answered already.
  func connection(_ connection: ServerConnection, received request: ServerRequest)

  /// The client did what the protocol or our SETTINGS forbid, such as too many streams.
  func connection(_ connection: ServerConnection, sawViolation reason: String)

  func connectionClosed(_ connection: ServerConnection)
}

package import Model

/// How a simulator is set up; what may change while it runs is in `SimulatorScript`.
package struct SimulatorOptions: Sendable, Equatable {
  /// The numeric address to listen on.
  package var host = "127.0.0.1"
  /// 0 takes any free port.
  package var port: UInt16 = 0
  /// PEM files for TLS.
  package var certificateFile: String
  package var keyFile: String
  /// When given, clients are asked for a certificate of these authorities, and one that shows it
  /// needs no provider token.
  package var clientAuthorityFile: String?
  /// Which APNs this listener plays; see `SimulatorScript.developmentTokenPrefix`.
  package var environment = PushEnvironment.production
  package var accounts = NetworkAccounts()
  package var acceptLogFile: String?
  /// Where each request that is received is shown, a line of JSON each; nil shows none. It stays the caller's.
  package var receivedDescriptor: CInt?
  /// Whether a new connection allows one stream until it has authorised itself, as APNs does.
  package var limitsNewConnections = true
  /// SETTINGS_MAX_CONCURRENT_STREAMS of a connection that has.
  package var maxConcurrentStreams = SimulatorLimits.concurrentStreams
  /// Whether a client that resets streams at a high rate is cut off, as by a server with the defence against
  /// rapid reset (CVE-2023-44487); libcurl before 8.0 resets each stream that is answered without a body.
  package var limitsResets = true
  /// How many accepted pushes, the first ones, are kept in memory for `Simulator.acceptedPushes`.
  package var keptAcceptsMax = 0
  package var script = SimulatorScript()

  package init(certificateFile: String, keyFile: String) {
    self.certificateFile = certificateFile
    self.keyFile = keyFile
  }
}

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
  /// APNs signing keys; without any, every signature passes.
  package var apnsKeys: [KnownAPNsKey] = []
  /// The bundle IDs that may be pushed to; empty allows every one.
  package var topics: [String] = []
  /// Service account files; without any, every bearer token passes and the endpoint issues none.
  package var serviceAccountFiles: [String] = []
  /// JPush's apps; without any, every app key and secret passes.
  package var jpushApps: [KnownJPushApp] = []
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

/// A token signing key that the simulated APNs knows.
package struct KnownAPNsKey: Sendable, Equatable {
  /// The 10 characters that the token's header names as `kid`.
  package let keyID: String
  /// The team that the token must claim as `iss`.
  package let teamID: String
  /// The .p8 file, or a PEM file with its public half only.
  package let file: String

  package init(keyID: String, teamID: String, file: String) {
    self.keyID = keyID
    self.teamID = teamID
    self.file = file
  }
}

/// An app that the simulated JPush knows.
package struct KnownJPushApp: Sendable, Equatable {
  package var appKey: String
  /// A file with the master secret.
  package var secretFile: String

  package init(appKey: String, secretFile: String) {
    self.appKey = appKey
    self.secretFile = secretFile
  }
}

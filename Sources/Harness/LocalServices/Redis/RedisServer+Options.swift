extension RedisServer {
  /// The offers of the server beside its Unix socket.
  package struct Options: Sendable {
    /// Listens on a free port of 127.0.0.1 as well.
    package var tcp = false
    /// Listens with TLS on a free port of 127.0.0.1 as well.
    package var tls: TLS?
    /// Clients must give this password.
    package var password: String?
    /// Writes the append-only file, synced at every write: what was answered survives ``kill9()``.
    package var appendOnly = false
    /// Memory limit in bytes, with the policy noeviction; 0 = none.
    package var memoryBytesMax = 0
    /// A shift of the server's clocks; nil for those of this machine.
    package var clock: ClockShift?
    /// Further lines of redis.conf, such as `appendfsync everysec`; they win over the others.
    package var configuration: [String] = []

    package init() {}
  }

  /// A certificate for the server, and whether clients must show one of the same authority.
  package struct TLS: Sendable {
    package var certificate: IssuedCertificate
    package var requiresClientCertificate: Bool

    package init(_ certificate: IssuedCertificate, requiresClientCertificate: Bool = false) {
      self.certificate = certificate
      self.requiresClientCertificate = requiresClientCertificate
    }
  }
}

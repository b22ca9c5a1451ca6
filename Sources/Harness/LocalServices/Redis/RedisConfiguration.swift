/// The redis.conf of a ``RedisServer``. A file rather than arguments, which everybody can read.
enum RedisConfiguration {
  static func text(
    _ options: RedisServer.Options, folder: TemporaryFolder, socketPath: String, port: UInt16?,
    tlsPort: UInt16?
  ) throws(LocalServiceError) -> String {
    var lines = [
      "unixsocket \(socketPath)",
      "unixsocketperm 700",
      "bind 127.0.0.1",
      "port \(port ?? 0)",
      "dir \(folder.path)",
      "logfile \(folder.file("redis.log"))",
      "daemonize no",
      "save \"\"",
      "appendonly \(options.appendOnly ? "yes" : "no")",
      "appendfsync always",
      "maxmemory \(options.memoryBytesMax)",
      "maxmemory-policy noeviction",
    ]
    if let password = options.password {
      guard password.utf8.allSatisfy({ (0x21...0x7e).contains($0) && $0 != 0x22 && $0 != 0x5c })
      else {
        throw LocalServiceError(
          "the Redis password must be of visible ASCII characters without quotes and backslashes")
      }
      lines.append("requirepass \"\(password)\"")
    }
    if let tls = options.tls, let tlsPort { lines += Self.lines(of: tls, port: tlsPort) }
    lines += options.configuration
    return lines.joined(separator: "\n") + "\n"
  }

  /// The lines by which a server or a Sentinel listens with TLS.
  static func lines(of tls: RedisServer.TLS, port: UInt16) -> [String] {
    [
      "tls-port \(port)",
      "tls-cert-file \(tls.certificate.certificateFile)",
      "tls-key-file \(tls.certificate.keyFile)",
      "tls-ca-cert-file \(tls.certificate.authorityFile)",
      "tls-auth-clients \(tls.requiresClientCertificate ? "yes" : "no")",
    ]
  }
}

import HTTP2
import Reactor

/// The server that a pool sends to, and how: all that its requests have in common.
struct CurlTarget {
  let settings: ClientSettings
  /// The name that the peer's certificate must carry.
  let serverName: String
  /// Scheme, host and port, to which each request's path is put.
  let origin: [UInt8]
  private let tls: TLSContext

  init(_ settings: ClientSettings) {
    precondition(settings.connectionsMax > 0 && settings.streamsMax > 0)
    guard let tls = settings.tls else { preconditionFailure("pushes go over TLS") }
    guard case .tcp(let host, let port) = settings.endpoint else {
      preconditionFailure("libcurl carries pushes over TCP")
    }
    self.settings = settings
    self.tls = tls
    serverName = settings.serverName ?? host
    origin = Array("https://\(Endpoint.tcp(host: host, port: port))".utf8)
  }

  /// Has libcurl trust whom the settings trust.
  /// - Parameter context: the `SSL_CTX *` of a connection that libcurl opens.
  func equip(_ context: UnsafeMutableRawPointer) throws(TLSError) {
    try tls.equip(context, serverName: serverName)
  }

  /// Whether a connection speaks HTTP/2.
  /// - Parameter session: its `SSL *`; nil without one.
  func speaksHTTP2(_ session: UnsafeMutableRawPointer?) -> Bool {
    // libcurl offers HTTP/2 and HTTP/1.1, nothing else.
    session.map { tls.isProtocolAgreed(on: $0) } ?? false
  }
}

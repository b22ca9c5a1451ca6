internal import Foundation
internal import Glibc
package import Reactor

/// An egress proxy on a free port of this machine that tunnels by CONNECT (RFC 9110, 9.3.6) or SOCKS5
/// (RFC 1928); loop-bound.
package final class TunnelProxy {
  package enum Way: Sendable {
    case http
    case socks5
  }

  private let loop: EventLoop
  private let way: Way
  /// `user:password` that CONNECT must show; nil when all may.
  private let login: String?
  private var listener: Listener!
  private var tunnels: [Tunnel] = []
  /// Where tunnels led, in order, as `host:port`.
  package private(set) var targets: [String] = []
  package private(set) var refusals = 0

  package init(loop: EventLoop, way: Way, login: String? = nil) throws(SystemError) {
    self.loop = loop
    self.way = way
    self.login = login
    listener = try Listener(loop: loop, endpoint: .tcp(host: "127.0.0.1", port: 0)) {
      [unowned self] descriptor in
      guard !isDown else {
        Glibc.close(descriptor)
        return
      }
      tunnels.append(Tunnel(loop: loop, descriptor: descriptor, proxy: self))
    }
  }

  package var port: UInt16 { listener.port }

  /// The URL, for instance `socks5h://127.0.0.1:1080`.
  package var url: String { "\(way == .http ? "http" : "socks5h")://127.0.0.1:\(port)" }

  /// Whether it cuts whoever is connected or connects. It keeps its port meanwhile: anybody's connection
  /// could be given that.
  package var isDown = false {
    didSet {
      guard isDown else { return }
      for tunnel in tunnels { tunnel.close() }
      tunnels.removeAll()
    }
  }

  /// Cuts every tunnel and listens no more.
  package func close() {
    listener.close()
    for tunnel in tunnels { tunnel.close() }
  }

  fileprivate func answer(_ tunnel: Tunnel, _ asked: [UInt8]) {
    if way == .http { answerConnect(tunnel, asked) } else { answerSOCKS(tunnel, asked) }
  }

  private func answerConnect(_ tunnel: Tunnel, _ asked: [UInt8]) {
    let text = String(decoding: asked, as: UTF8.self)
    guard text.hasSuffix("\r\n\r\n") else { return }
    let words = text.prefix { $0 != "\r\n" }.split(separator: " ")
    let shown = login.map { "Basic " + Data($0.utf8).base64EncodedString() }
    guard words.count == 3, words[0] == "CONNECT", shown.map({ text.contains($0) }) ?? true,
      let colon = words[1].lastIndex(of: ":"), let port = UInt16(words[1][colon...].dropFirst())
    else {
      refusals += 1
      return tunnel.say("HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
    }
    lead(tunnel, to: String(words[1][..<colon]), port)
    tunnel.say("HTTP/1.1 200 Connection established\r\n\r\n")
  }

  private func answerSOCKS(_ tunnel: Tunnel, _ asked: [UInt8]) {
    guard tunnel.isGreeted else {
      guard asked.count >= 2, asked.count >= 2 + Int(asked[1]) else { return }
      tunnel.isGreeted = true
      return tunnel.say([5, 0])
    }
    // A name follows its length, and the port follows the name.
    guard asked.count >= 5, asked[3] == 3, asked.count >= 7 + Int(asked[4]) else { return }
    let end = 5 + Int(asked[4])
    let port = UInt16(asked[end]) << 8 | UInt16(asked[end + 1])
    lead(tunnel, to: String(decoding: asked[5..<end], as: UTF8.self), port)
    tunnel.say([5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
  }

  private func lead(_ tunnel: Tunnel, to host: String, _ port: UInt16) {
    targets.append("\(host):\(port)")
    tunnel.lead(to: .tcp(host: host, port: port))
  }

  fileprivate func ended(_ tunnel: Tunnel) { tunnels.removeAll { $0 === tunnel } }
}

/// One client of a proxy and what it was led to.
private final class Tunnel: ByteStreamDelegate {
  private let loop: EventLoop
  private unowned let proxy: TunnelProxy
  private var client: ByteStream!
  private var server: ByteStream?
  private var asked: [UInt8] = []
  private var forServer: [UInt8] = []
  var isGreeted = false

  init(loop: EventLoop, descriptor: CInt, proxy: TunnelProxy) {
    self.loop = loop
    self.proxy = proxy
    client = ByteStream(loop: loop, delegate: self)
    client.adopt(descriptor: descriptor, tls: nil)
  }

  func say(_ text: String) { say(Array(text.utf8)) }

  func say(_ bytes: [UInt8]) {
    asked.removeAll()
    _ = bytes.withUnsafeBytes { client.write($0) }
    client.requestFlush()
  }

  func lead(to endpoint: Endpoint) {
    let server = ByteStream(loop: loop, delegate: self)
    self.server = server
    server.connect(to: endpoint, tls: nil, serverName: nil, timeoutMs: 10_000)
  }

  func close() {
    client.close()
    server?.close()
  }

  func streamDidOpen(_ stream: ByteStream) {
    guard stream === server else { return }
    _ = forServer.withUnsafeBytes { stream.write($0) }
    forServer.removeAll()
    stream.requestFlush()
  }

  func stream(_ stream: ByteStream, didRead bytes: UnsafeRawBufferPointer) {
    if stream === server {
      _ = client.write(bytes)
      client.requestFlush()
    } else if let server {
      guard server.isOpen else { return forServer.append(contentsOf: bytes) }
      _ = server.write(bytes)
      server.requestFlush()
    } else {
      asked.append(contentsOf: bytes)
      proxy.answer(self, asked)
    }
  }

  func streamFillsOutput(_ stream: ByteStream) {}

  func stream(_ stream: ByteStream, didCloseWith failure: StreamFailure?) {
    close()
    proxy.ended(self)
  }
}

internal import Foundation
internal import Reactor

/// One client of a proxy and what it was led to; loop-bound. Either side is read no faster than the other takes it.
final class TunnelProxyClient: ByteStreamDelegate {
  private unowned let proxy: TunnelProxy
  private var client: ByteStream!
  private var server: ByteStream?
  private var asked: [UInt8] = []
  private var isGreeted = false
  private var hasLoggedIn: Bool
  /// Whether one side has ended, and the other closes when it has been told all.
  private var isEnding = false
  /// The bytes that say to the client that its tunnel is open, and that it cannot be.
  private var yes: [UInt8] = []
  private var no: [UInt8] = []

  init(descriptor: CInt, proxy: TunnelProxy) {
    self.proxy = proxy
    hasLoggedIn = proxy.login == nil
    client = ByteStream(loop: proxy.loop, delegate: self)
    client.adopt(descriptor: descriptor, tls: nil)
  }

  func close() {
    client.close()
    server?.close()
  }

  private func say(_ bytes: [UInt8]) {
    asked.removeAll()
    _ = bytes.withUnsafeBytes { client.write($0) }
    client.requestFlush()
  }

  private func answer() {
    if let misanswer = proxy.misanswer { return say(misanswer) }
    if proxy.way == .http { answerConnect() } else { answerSOCKS() }
  }

  private func answerConnect() {
    let text = String(decoding: asked, as: UTF8.self)
    guard text.hasSuffix("\r\n\r\n") else { return }
    let words = text.prefix { $0 != "\r\n" }.split(separator: " ")
    let shown = proxy.login.map { "Basic " + Data($0.utf8).base64EncodedString() + "\r\n" }
    guard words.count == 3, words[0] == "CONNECT", shown.map({ text.contains($0) }) ?? true,
      let colon = words[1].lastIndex(of: ":"), let port = UInt16(words[1][colon...].dropFirst())
    else {
      proxy.refusals += 1
      return say(
        Array(
          ("HTTP/1.1 407 Proxy Authentication Required\r\n"
            + "Proxy-Authenticate: Basic realm=\"egress\"\r\nContent-Length: 0\r\n\r\n").utf8))
    }
    yes = Array("HTTP/1.1 200 Connection established\r\nVia: 1.1 egress\r\n\r\n".utf8)
    no = Array("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n".utf8)
    lead(to: words[1][..<colon].trimmingCharacters(in: ["[", "]"]), port)
  }

  private func answerSOCKS() {
    guard isGreeted else {
      guard asked.count >= 2, asked.count >= 2 + Int(asked[1]) else { return }
      let method: UInt8 = hasLoggedIn ? 0 : 2
      guard asked[2...].contains(method) else {
        proxy.refusals += 1
        return say([5, 0xff])
      }
      isGreeted = true
      return say([5, method])
    }
    guard hasLoggedIn else { return checkLogin() }
    guard asked.count >= 5 else { return }
    // A name follows its length, and the port follows the address.
    let start = asked[3] == 3 ? 5 : 4
    let count = asked[3] == 3 ? Int(asked[4]) : asked[3] == 1 ? 4 : 16
    guard asked.count >= start + count + 2 else { return }
    let address = asked[start..<start + count]
    let port = UInt16(asked[start + count]) << 8 | UInt16(asked[start + count + 1])
    yes = [5, 0, 0, 1, 0, 0, 0, 0, 0, 0]
    no = [5, 5, 0, 1, 0, 0, 0, 0, 0, 0]
    lead(to: Self.host(address, type: asked[3]), port)
  }

  private func checkLogin() {
    guard asked.count >= 2, asked.count >= 3 + Int(asked[1]) else { return }
    let end = 2 + Int(asked[1])
    guard asked.count >= end + 1 + Int(asked[end]) else { return }
    let shown = [asked[2..<end], asked[(end + 1)...]].map { String(decoding: $0, as: UTF8.self) }
    hasLoggedIn = shown.joined(separator: ":") == proxy.login
    if !hasLoggedIn { proxy.refusals += 1 }
    say([1, hasLoggedIn ? 0 : 1])
  }

  private static func host(_ address: ArraySlice<UInt8>, type: UInt8) -> String {
    switch type {
    case 3: return String(decoding: address, as: UTF8.self)
    case 1: return address.map { "\($0)" }.joined(separator: ".")
    default:
      let bytes = Array(address)
      return stride(from: 0, to: 16, by: 2).map {
        String(UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]), radix: 16)
      }.joined(separator: ":")
    }
  }

  private func lead(to host: String, _ port: UInt16) {
    asked.removeAll()
    proxy.targets.append("\(Endpoint.tcp(host: host, port: port))")
    let server = ByteStream(loop: proxy.loop, delegate: self)
    self.server = server
    server.connect(to: .tcp(host: host, port: port), tls: nil, timeoutMs: 10_000)
  }

  // MARK: Bytes

  func streamDidOpen(_ stream: ByteStream) {
    guard stream === server else { return }
    say(yes)
    yes.removeAll()
  }

  func stream(_ stream: ByteStream, didRead bytes: UnsafeRawBufferPointer) {
    guard let server, stream === server || server.isOpen else {
      asked.append(contentsOf: bytes)
      return answer()
    }
    let other: ByteStream = stream === server ? client : server
    _ = other.write(bytes)
    if other.outputRoom < ReactorLimits.readBufferBytes { stream.pauseReading() }
    other.requestFlush()
  }

  func streamFillsOutput(_ stream: ByteStream) {
    if isEnding { return stream.outputWaiting == 0 ? close() : () }
    if stream === server { client.resumeReading() } else { server?.resumeReading() }
  }

  func stream(_ stream: ByteStream, didCloseWith failure: StreamFailure?) {
    if stream === server, !yes.isEmpty, client.isOpen {
      // It was never open.
      yes.removeAll()
      server = nil
      return say(no)
    }
    // What the one side said last is for the other.
    let other = stream === server ? client : server
    if let other, other.isOpen, other.outputWaiting > 0 {
      isEnding = true
      return other.requestFlush()
    }
    close()
    proxy.ended(self)
  }
}

/// CONNECT with the login by Basic (RFC 9110, 9.3.6; RFC 7617).
struct ConnectExchange: TunnelExchange {
  var output: [UInt8]
  private(set) var progress = TunnelProgress.goesOn
  private let hasLogin: Bool
  /// Bytes of the answer so far, of which nothing but the current line is kept.
  private var bytesRead = 0
  private var line: [UInt8] = []
  /// nil until the first line has come.
  private var status: Int?
  /// How the proxy wants a login to be shown, as far as the ways are known.
  private var schemes: [String] = []

  var isTargetAsked: Bool { true }
  var isAboutTarget: Bool { status.map((502...504).contains) ?? false }

  private static let knownSchemes = ["Basic", "Digest", "NTLM", "Negotiate", "Kerberos", "Bearer"]

  init(to target: TunnelTarget, login: ProxyServer.Login?) {
    hasLogin = login != nil
    let place =
      switch target {
      case .host(let host, let port): "\(Endpoint.tcp(host: host, port: port))"
      case .address(let address): "\(address)"
      }
    var text = "CONNECT \(place) HTTP/1.1\r\nHost: \(place)\r\n"
    if let login {
      let shown = Base64.text(of: Array("\(login.user):\(login.password)".utf8))
      text += "Proxy-Authorization: Basic \(shown)\r\n"
    }
    output = Array((text + "\r\n").utf8)
  }

  mutating func take(_ bytes: UnsafeRawBufferPointer) -> Int {
    for (index, byte) in bytes.enumerated() {
      guard progress == .goesOn else { return index }
      bytesRead += 1
      if byte == UInt8(ascii: "\n") {
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        endLine()
        line.removeAll(keepingCapacity: true)
      } else if bytesRead >= ReactorLimits.tunnelAnswerBytesMax {
        progress = .refused(
          "answers CONNECT with more than \(ReactorLimits.tunnelAnswerBytesMax) bytes of headers")
      } else {
        line.append(byte)
        if status == nil, !Self.mayBegin(line) { progress = .refused(Self.isNoHTTP) }
      }
    }
    return bytes.count
  }

  private mutating func endLine() {
    guard let status else {
      self.status = Self.status(of: line)
      if self.status == nil { progress = .refused(Self.isNoHTTP) }
      return
    }
    guard line.isEmpty else { return noteHeader() }
    switch status {
    // Something interim, which the answer follows (RFC 9110, 15.2). Behind 101 there is no HTTP any more.
    case 100..<200 where status != 101: self.status = nil
    // Whatever the headers say of a body: there is none (RFC 9110, 9.3.6).
    case 200..<300: progress = .open
    default: progress = .refused(refusal(status))
    }
  }

  private mutating func noteHeader() {
    guard status == 407, let colon = line.firstIndex(of: UInt8(ascii: ":")),
      String(decoding: line[..<colon], as: UTF8.self).lowercased() == "proxy-authenticate"
    else { return }
    // Several may stand in one line, among their parameters (RFC 9110, 11.6.1).
    for part in line[(colon + 1)...].split(separator: UInt8(ascii: ",")) {
      let word = part.drop { $0 <= 0x20 }.prefix { $0 > 0x20 }
      let name = String(decoding: word, as: UTF8.self).lowercased()
      guard let known = Self.knownSchemes.first(where: { $0.lowercased() == name }),
        !schemes.contains(known)
      else { continue }
      schemes.append(known)
    }
  }

  private func refusal(_ status: Int) -> String {
    guard status == 407, !schemes.isEmpty, !schemes.contains("Basic") else {
      return ProxyServer.refusal(ofConnect: status, hasLogin: hasLogin)
    }
    return "wants a login by \(schemes.joined(separator: " or ")) (407): pushpool shows one by "
      + "Basic only"
  }

  private static let isNoHTTP =
    "does not answer in HTTP/1.1: is it a SOCKS proxy, or one behind TLS?"

  private static let beginning = Array("HTTP/1.".utf8)

  private static func mayBegin(_ line: [UInt8]) -> Bool {
    line.count > beginning.count || beginning.starts(with: line)
  }

  /// The status of `HTTP/1.1 200 and a reason`; nil when it is none.
  private static func status(of line: [UInt8]) -> Int? {
    let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 2)
    guard line.starts(with: beginning), parts.count >= 2, parts[1].count == 3,
      let status = Int(String(decoding: parts[1], as: UTF8.self)), (100..<600).contains(status)
    else { return nil }
    return status
  }
}

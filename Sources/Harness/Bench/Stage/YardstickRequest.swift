import Providers

/// What h2load sends: the worker's own request as it was rendered, to as many device tokens.
struct YardstickRequest: Sendable {
  /// `name: value`
  let headers: [String]
  let body: [UInt8]
  /// One URI a line, distinct where the network names the device in the path.
  let uris: [UInt8]

  init(authority: String, headers: [String], rendered: RenderedPush, tokens: [String]) {
    self.headers = headers
    switch rendered.body {
    case .shared(let bytes): body = bytes
    case .aroundToken(let prefix, let suffix):
      body = prefix + Array((tokens.first ?? "").utf8) + suffix
    case .aroundTokens(let opening, let afterID, _, let closing):
      body = opening + afterID + Array((tokens.first ?? "").utf8) + closing
    }
    var uris: [UInt8] = []
    let base = Array("https://\(authority)".utf8)
    switch rendered.path {
    case .fixed(let path): uris = base + path + Array("\n".utf8)
    case .perToken(let prefix):
      for token in tokens {
        uris += base
        uris += prefix
        uris += token.utf8
        uris.append(UInt8(ascii: "\n"))
      }
    }
    self.uris = uris
  }
}

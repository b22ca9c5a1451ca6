import Providers

/// The request that h2load sends: the worker's own request as it was rendered, to as many device tokens.
struct YardstickRequest: Sendable {
  /// `name: value`
  let headers: [String]
  let body: [UInt8]
  /// One URI a line, distinct where the network names the device in the path.
  let uris: [UInt8]

  /// The id of a request that has one. It need not change: whether a request is new is nothing to who sends it.
  private static let id = "00000000-0000-8000-a000-000000000000"

  /// - Parameter pushes: how many a request carries, where it carries several.
  init(
    authority: String, headers: [String], rendered: RenderedPush, tokens: [String], pushes: Int
  ) {
    self.headers = headers
    body = rendered.body(to: Array(tokens.prefix(pushes)), id: Self.id)
    let paths =
      switch rendered.path {
      case .fixed(let path): [path]
      case .perToken: tokens.map { rendered.path(to: $0) }
      }
    uris = paths.flatMap { Array("https://\(authority)".utf8) + $0 + Array("\n".utf8) }
  }
}

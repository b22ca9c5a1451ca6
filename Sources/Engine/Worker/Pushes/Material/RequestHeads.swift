internal import HTTP2
internal import Providers

/// The header fields of what was last sent to a destination: those of the next job are mostly the same. Loop-bound.
final class RequestHeads {
  private var last:
    (fields: [RenderedPush.Header], path: [UInt8]?, generation: UInt64, head: RequestHead)?

  /// The header fields of a rendered job with a credential.
  func head(_ rendered: RenderedPush, authority: String, credential: Credential) -> RequestHead {
    var path: [UInt8]?
    if case .fixed(let fixed) = rendered.path { path = fixed }
    if let last, last.generation == credential.generation, last.path == path,
      last.fields == rendered.headers
    {
      return last.head
    }
    var headers = rendered.headers.map { (name: $0.name, value: $0.value) }
    if let authorization = credential.header {
      headers.append((name: "authorization", value: authorization))
    }
    let head = RequestHead(authority: authority, path: path, headers: headers)
    last = (rendered.headers, path, credential.generation, head)
    return head
  }
}

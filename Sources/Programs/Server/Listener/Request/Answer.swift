internal import HTTPTypes
internal import Model

/// A route's answer with the header fields that each answer has.
struct Answer {
  /// Fields of an answer that says nothing of its own: a browser may keep it for nobody, and do nothing with it.
  private static let usual: [(name: String, value: String)] = [
    ("cache-control", "no-store"), ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("content-security-policy", "default-src 'none'; frame-ancestors 'none'"),
  ]

  let status: Int
  /// Names in lower case; without the length of the body.
  let fields: [(name: String, value: String)]
  /// The body, unless it is a stream.
  let bytes: [UInt8]
  let stream: (@Sendable (any APIBodyWriter) async throws -> Void)?

  init(_ response: APIResponse, id: String) {
    status = response.status
    var fields = response.headers
    func add(_ name: String, _ value: String) {
      if !fields.contains(where: { $0.name == name }) { fields.append((name: name, value: value)) }
    }
    switch response.body {
    case .none: (bytes, stream) = ([], nil)
    case .json(let value):
      (bytes, stream) = (value.bytes(), nil)
      add("content-type", "application/json")
    case .bytes(let content, let type):
      (bytes, stream) = (content, nil)
      add("content-type", type)
    case .stream(let type, let body):
      (bytes, stream) = ([], body)
      add("content-type", type)
      // What goes on for long takes its connection with it.
      add("connection", "close")
    }
    for field in Self.usual { add(field.name, field.value) }
    add("request-id", id)
    self.fields = fields
  }

  /// The fields as the listener writes them; one whose name HTTP does not allow is left out.
  var httpFields: HTTPFields {
    var written = HTTPFields()
    for field in fields {
      guard let name = HTTPField.Name(field.name) else { continue }
      written.append(HTTPField(name: name, value: field.value))
    }
    return written
  }
}

internal import HTTP2

/// The prepared heads of answers; they live as long as the server, as `ResponseHead` asks for.
struct AnswerHeads {
  static let contentType = (name: "content-type", value: "application/json; charset=UTF-8")

  private var bare: [Int: ResponseHead] = [:]
  private var withBody: [Int: ResponseHead] = [:]
  private let accepted = ResponseHead(status: 200)

  /// The head of an answer without fields of its own.
  mutating func head(status: Int, hasBody: Bool) -> ResponseHead {
    if status == 200 && !hasBody { return accepted }
    if let head = hasBody ? withBody[status] : bare[status] { return head }
    let head = ResponseHead(status: status, headers: hasBody ? [Self.contentType] : [])
    if hasBody { withBody[status] = head } else { bare[status] = head }
    return head
  }
}

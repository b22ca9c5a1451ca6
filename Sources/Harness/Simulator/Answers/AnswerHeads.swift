internal import HTTP2Server

/// The prepared heads of answers; they live as long as the server, as `ResponseHead` asks for.
struct AnswerHeads {
  static let contentType = (name: "content-type", value: "application/json; charset=UTF-8")

  private struct Kind: Hashable {
    let status: Int
    let hasBody: Bool
    let contentType: String?
    let retryAfterSeconds: Int?
  }

  private var heads: [Kind: ResponseHead] = [:]
  private let accepted = ResponseHead(status: 200)

  /// The head of an answer to a request without an `apns-id`; nil when the answer has fields that change from one to the
  /// next, and when there are too many kinds to keep.
  mutating func head(of answer: Answer) -> ResponseHead? {
    guard answer.rateStanding == nil else { return nil }
    let kind = Kind(
      status: answer.status, hasBody: !answer.body.isEmpty, contentType: answer.contentType,
      retryAfterSeconds: answer.retryAfterSeconds)
    if kind.status == 200, !kind.hasBody, kind.contentType == nil, kind.retryAfterSeconds == nil {
      return accepted
    }
    if let head = heads[kind] { return head }
    guard heads.count < SimulatorLimits.preparedHeadsMax else { return nil }
    let head = ResponseHead(status: answer.status, headers: Self.fields(of: answer))
    heads[kind] = head
    return head
  }

  /// - Parameter id: the request's `apns-id`.
  static func fields(of answer: Answer, id: String? = nil) -> [(name: String, value: String)] {
    var fields: [(name: String, value: String)] = []
    if let type = answer.contentType {
      fields.append((contentType.name, type))
    } else if !answer.body.isEmpty {
      fields.append(contentType)
    }
    if let id { fields.append(("apns-id", id)) }
    if let seconds = answer.retryAfterSeconds { fields.append(("retry-after", String(seconds))) }
    return fields + (answer.rateStanding?.headers ?? [])
  }
}

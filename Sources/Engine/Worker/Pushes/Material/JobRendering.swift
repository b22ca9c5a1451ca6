internal import HTTP2
internal import Model
internal import Providers

/// The outcome of rendering a job for a destination.
enum JobRendering {
  case message(JobMessage)
  /// The job cannot be sent to this destination; why.
  case refused(InvalidField)
  /// A dry run on a network that has none.
  case nothing
  /// The job says nothing for this network.
  case empty
}

/// The request of a job to one destination, rendered once.
final class JobMessage {
  let rendered: RenderedPush
  let pathPrefix: UnsafeRawBufferPointer
  let bodyBefore: UnsafeRawBufferPointer
  private let bodyBeforeFID: UnsafeRawBufferPointer
  let bodyAfter: UnsafeRawBufferPointer
  private let isBodyPerToken: Bool
  /// The template whose texts are filled in for each push; nil when nothing is.
  let template: BodyTemplate?
  /// The text between the id of a request of several pushes and its first device token, and between two tokens.
  let between: (idAndTokens: UnsafeRawBufferPointer, tokens: UnsafeRawBufferPointer)?
  private let arena = ByteArena()
  /// The header fields with the credential of a generation; earlier ones are kept while requests
  /// may point into them, which is as long as the job is remembered.
  private var heads: [RequestHead] = []
  private var generation: UInt64?

  /// - Parameter hasMarks: `MessageVariants.hasMarks`.
  init(_ rendered: RenderedPush, hasMarks: Bool) {
    self.rendered = rendered
    template = hasMarks ? BodyTemplate(rendered) : nil
    switch rendered.path {
    case .perToken(let prefix): pathPrefix = prefix.withUnsafeBytes { [arena] in arena.copy($0) }
    case .fixed: pathPrefix = UnsafeRawBufferPointer(start: nil, count: 0)
    }
    var beforeFID = UnsafeRawBufferPointer(start: nil, count: 0)
    switch rendered.body {
    case .shared(let bytes):
      bodyBefore = bytes.withUnsafeBytes { [arena] in arena.copy($0) }
      bodyAfter = UnsafeRawBufferPointer(start: nil, count: 0)
      isBodyPerToken = false
      between = nil
    case .aroundToken(let prefix, let fidPrefix, let suffix):
      bodyBefore = prefix.withUnsafeBytes { [arena] in arena.copy($0) }
      beforeFID = fidPrefix.withUnsafeBytes { [arena] in arena.copy($0) }
      bodyAfter = suffix.withUnsafeBytes { [arena] in arena.copy($0) }
      isBodyPerToken = true
      between = nil
    case .aroundTokens(let opening, let afterID, let separator, let closing):
      bodyBefore = opening.withUnsafeBytes { [arena] in arena.copy($0) }
      bodyAfter = closing.withUnsafeBytes { [arena] in arena.copy($0) }
      isBodyPerToken = true
      between = (
        afterID.withUnsafeBytes { [arena] in arena.copy($0) },
        separator.withUnsafeBytes { [arena] in arena.copy($0) }
      )
    }
    bodyBeforeFID = beforeFID
  }

  /// The body of one push that nothing is filled in for; of parts that stay in place.
  func body(to token: UnsafeRawBufferPointer) -> RequestBody {
    guard isBodyPerToken else { return RequestBody(before: bodyBefore) }
    return RequestBody(
      before: FirebaseInstallationID.isOne(token) ? bodyBeforeFID : bodyBefore, own: token,
      after: bodyAfter)
  }

  /// - Parameter known: the destination's.
  func head(_ known: RequestHeads, authority: String, credential: Credential) -> RequestHead {
    if generation == credential.generation, let head = heads.last { return head }
    let head = known.head(rendered, authority: authority, credential: credential)
    heads.append(head)
    generation = credential.generation
    return head
  }
}

internal import HTTP2
internal import Model
internal import Providers

/// The parts that the pushes of one job share on one lane: its content, and per destination the request as rendered
/// once.
final class JobMaterial {
  /// The request to one destination.
  final class Message {
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

  enum Rendering {
    case message(Message)
    /// The job cannot be sent to this destination; why.
    case refused(InvalidField)
    /// A dry run on a network that has none.
    case nothing
    /// The job says nothing for this network.
    case empty
  }

  let content: JobContent
  /// The content in each of its languages, to be rendered.
  let variants: MessageVariants
  /// Why nothing can be rendered of it; nil when it can.
  private let flaw: InvalidField?
  /// `JobContent.raisesBadge`, at hand for each push.
  let raisesBadge: Bool
  /// Which installations get it; nil for all of the audience.
  let filter: FilterMatcher?
  /// Which time zones this round of the job is for; nil for a job that is for all at once.
  let zones: ZoneMatcher?
  /// The names of the fields that are read of each installation's record before a push is made for it: its language,
  /// its time zone, then what the filter looks at.
  let recordFields: [String]
  /// The names of `variants.placeholders`, at hand for each push.
  let placeholderNames: [UnsafeRawBufferPointer]
  private let arena = ByteArena()
  /// Whether what it says, or to whom, is not the same for every receiver.
  let isPersonal: Bool
  let createdAtMs: Int64
  /// After this instant nothing of the job is sent; nil when it never expires.
  let expiresAtMs: Int64?
  /// Where what happens to its pushes is recorded; nil when that is nowhere.
  let trace: JobTrace?
  /// The bindings of its users that were read as this lane admitted it.
  let firstBindings: FirstBindings?
  private struct Rendered {
    let rendering: Rendering
    let atMs: Int64
    /// The number of the destination that it is for.
    let destination: Int
  }

  /// The networks' verdicts on the content.
  var verdicts = ContentVerdicts()
  /// By place of the destination among those of the app, from the first that something was rendered for, and variant.
  private var firstRendered = 0
  private var renderings: [Rendered?] = []
  /// Earlier messages that requests in flight may still point into, by number of the destination and variant, oldest
  /// first. Apart from `renderings`, of which a copy is made for each push.
  private var retired: [Int: [Message]] = [:]
  /// The renderings for destinations that others have taken the place of, by number and variant. Requests in flight may point
  /// into them.
  private var replaced: [Int: Rendered] = [:]
  /// Languages that were looked up, and their variants.
  private var knownLanguages: [(language: [UInt8], variant: UInt8)] = []

  /// - Parameters:
  ///   - createdAtMs: the start that its time to live counts from, unless it has several.
  ///   - round: which of these it is for, and its time to live counts from.
  init(
    content: JobContent, createdAtMs: Int64, round: Int? = nil, trace: JobTrace? = nil,
    firstBindings: FirstBindings? = nil
  ) {
    let zones = content.schedule.map { ZoneMatcher($0, round: round ?? 0) }
    let content = zones.map { $0.counted(content, createdAtMs: createdAtMs) } ?? content
    self.content = content
    self.zones = zones
    raisesBadge = content.raisesBadge
    do throws(InvalidField) {
      variants = try MessageVariants(content)
      flaw = nil
    } catch {
      // Admission refuses such a job. What another version has admitted must not go out with its placeholders.
      variants = MessageVariants(plain: content)
      flaw = error
    }
    filter = content.receivers.map { FilterMatcher($0) }
    recordFields =
      (variants.hasLanguages ? ["language"] : []) + (zones == nil ? [] : ["time_zone"])
      + (filter?.recordFields ?? [])
    placeholderNames = variants.placeholders.map { [arena] placeholder in
      var name = placeholder.name
      return name.withUTF8 { arena.copy(UnsafeRawBufferPointer($0)) }
    }
    isPersonal = variants.hasLanguages || variants.hasMarks || filter != nil || zones != nil
    self.trace = trace
    self.firstBindings = firstBindings
    self.createdAtMs = createdAtMs
    switch content.expiry {
    // "Now or never" is for the network: the first attempt is made, however long it took to come up.
    case .ttl(seconds: 0), nil: expiresAtMs = nil
    case let expiry?: expiresAtMs = expiry.expiresAtMs(createdAtMs: createdAtMs)
    }
  }

  /// The bucket that it tells of, if it tells of an event.
  var bucket: String? { content.event?.bucketID }

  /// The topic that it goes to, if it goes to one.
  var topic: String? { content.topic }

  /// Whether a push that failed may be tried again at all.
  var allowsRetry: Bool { content.expiry != .ttl(seconds: 0) }

  /// How many users are resolved at a time where each push is made for its receiver.
  private(set) var personalBatch = WorkerLimits.resolveBatchMax

  /// Notes that so many users had so many bindings and bytes of values.
  func noteBatch(users: Int, bindings: Int, bytes: Int) {
    let most = min(
      users * WorkerLimits.batchBindingsMax / max(bindings, 1),
      users * WorkerLimits.batchValueBytesMax / max(bytes, 1))
    personalBatch = max(WorkerLimits.personalBatchMin, min(most, WorkerLimits.personalBatchMax))
  }

  /// Which of its variants an installation of this language gets.
  func variant(language: UnsafeRawBufferPointer) -> UInt8 {
    guard !language.isEmpty else { return 0 }
    if let known = knownLanguages.first(where: { $0.language.elementsEqual(language) }) {
      return known.variant
    }
    let variant = UInt8(variants.index(language: String(decoding: language, as: UTF8.self)))
    if knownLanguages.count < WorkerLimits.languagesKnownMax {
      knownLanguages.append((Array(language), variant))
    }
    return variant
  }

  /// - Parameters:
  ///   - destination: its number.
  ///   - place: its place among the destinations of the app.
  ///   - variant: a position in `variants.contents`.
  func rendering(
    for destination: Int, at place: Int, variant: UInt8, provider: any PushProvider,
    nowMs: @autoclosure () -> Int64
  ) -> Rendering {
    let index = (place - firstRendered) * variants.contents.count + Int(variant)
    if index >= 0, index < renderings.count, let known = renderings[index] {
      guard known.destination == destination else {
        return rendering(
          insteadOf: known, for: destination, at: place, variant, provider, nowMs: nowMs())
      }
      let isDated = expiresAtMs != nil && provider.tellsRemainingTime
      guard isDated, nowMs() - known.atMs > WorkerLimits.renderingAgeMsMax else {
        return known.rendering
      }
      if case .message(let message) = known.rendering { retire(message, destination, variant) }
    }
    let made = render(variants.contents[Int(variant)], provider, nowMs: nowMs())
    keep(Rendered(rendering: made, atMs: nowMs(), destination: destination), at: place, variant)
    return made
  }

  /// Returns the rendering for one of two destinations that have the same place, since the configuration has changed while
  /// the job is in hand. The newer one has the place from now on.
  private func rendering(
    insteadOf known: Rendered, for destination: Int, at place: Int, _ variant: UInt8,
    _ provider: any PushProvider, nowMs: Int64
  ) -> Rendering {
    let count = variants.contents.count
    if let earlier = replaced[destination * count + Int(variant)] { return earlier.rendering }
    let made = Rendered(
      rendering: render(variants.contents[Int(variant)], provider, nowMs: nowMs), atMs: nowMs,
      destination: destination)
    let (newer, older) = destination > known.destination ? (made, known) : (known, made)
    replaced[older.destination * count + Int(variant)] = older
    keep(newer, at: place, variant)
    return made.rendering
  }

  private func keep(_ made: Rendered, at place: Int, _ variant: UInt8) {
    let count = variants.contents.count
    if renderings.isEmpty { firstRendered = place }
    while firstRendered > place {
      renderings.insert(contentsOf: repeatElement(nil, count: count), at: 0)
      firstRendered -= 1
    }
    let index = (place - firstRendered) * count + Int(variant)
    while renderings.count <= index { renderings.append(nil) }
    renderings[index] = made
  }

  /// Keeps what was rendered for as long as a request can last that was made of it.
  private func retire(_ message: Message, _ destination: Int, _ variant: UInt8) {
    let number = destination * variants.contents.count + Int(variant)
    retired[number, default: []].append(message)
    if retired[number, default: []].count > WorkerLimits.retiredMessagesMax {
      retired[number]?.removeFirst()
    }
  }

  private func render(
    _ content: JobContent, _ provider: any PushProvider, nowMs: Int64
  ) -> Rendering {
    guard content.isFor(provider.network) else { return .empty }
    if let flaw { return .refused(flaw) }
    do throws(InvalidField) {
      let rendered = try provider.render(content, createdAtMs: createdAtMs, nowMs: nowMs)
      return rendered.dryRun == .skip
        ? .nothing : .message(Message(rendered, hasMarks: variants.hasMarks))
    } catch {
      return .refused(error)
    }
  }
}

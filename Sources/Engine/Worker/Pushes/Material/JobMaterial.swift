internal import Model
internal import Providers

/// The parts that the pushes of one job share on one lane: its content, and per destination the request as rendered
/// once.
final class JobMaterial {
  let content: JobContent
  /// The content in each of its languages, to be rendered.
  let variants: MessageVariants
  /// Why nothing can be rendered of it; nil when it can.
  private let flaw: InvalidField?
  /// `JobContent.raisesBadge`, at hand for each push.
  let raisesBadge: Bool
  var receivers: ReceiverNeeds
  /// The names of `variants.placeholders`, at hand for each push.
  let placeholderNames: [UnsafeRawBufferPointer]
  private let arena = ByteArena()
  let createdAtMs: Int64
  /// After this instant nothing of the job is sent; nil when it never expires.
  let expiresAtMs: Int64?
  /// Where what happens to its pushes is recorded; nil when that is nowhere.
  let trace: JobTrace?
  /// The bindings of its users that were read as this lane admitted it.
  let firstBindings: FirstBindings?
  /// The networks' verdicts on the content.
  var verdicts = ContentVerdicts()
  private var renderings: RenderingTable
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
    raisesBadge = content.raisesBadge
    do throws(InvalidField) {
      variants = try MessageVariants(content)
      flaw = nil
    } catch {
      // Admission refuses such a job. What another version has admitted must not go out with its placeholders.
      variants = MessageVariants(plain: content)
      flaw = error
    }
    receivers = ReceiverNeeds(content, variants, zones: zones)
    renderings = RenderingTable(variants: variants.contents.count)
    placeholderNames = variants.placeholders.map { [arena] placeholder in
      var name = placeholder.name
      return name.withUTF8 { arena.copy(UnsafeRawBufferPointer($0)) }
    }
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
  ) -> JobRendering {
    if let known = renderings.entry(at: place, variant) {
      guard known.destination == destination else {
        return rendering(
          insteadOf: known, for: destination, at: place, variant, provider, nowMs: nowMs())
      }
      let isDated = expiresAtMs != nil && provider.tellsRemainingTime
      guard isDated, nowMs() - known.atMs > WorkerLimits.renderingAgeMsMax else {
        return known.rendering
      }
      if case .message(let message) = known.rendering {
        renderings.retire(message, for: destination, variant)
      }
    }
    let made = render(variants.contents[Int(variant)], provider, nowMs: nowMs())
    renderings.keep(
      .init(rendering: made, atMs: nowMs(), destination: destination), at: place, variant)
    return made
  }

  /// Returns the rendering for one of two destinations that have the same place, since the configuration has changed while
  /// the job is in hand.
  private func rendering(
    insteadOf known: RenderingTable.Entry, for destination: Int, at place: Int, _ variant: UInt8,
    _ provider: any PushProvider, nowMs: Int64
  ) -> JobRendering {
    if let earlier = renderings.replaced(destination, variant) { return earlier.rendering }
    let made = RenderingTable.Entry(
      rendering: render(variants.contents[Int(variant)], provider, nowMs: nowMs), atMs: nowMs,
      destination: destination)
    renderings.keep(made, beside: known, at: place, variant)
    return made.rendering
  }

  private func render(
    _ content: JobContent, _ provider: any PushProvider, nowMs: Int64
  ) -> JobRendering {
    guard content.isFor(provider.network) else { return .empty }
    if let flaw { return .refused(flaw) }
    do throws(InvalidField) {
      let rendered = try provider.render(content, createdAtMs: createdAtMs, nowMs: nowMs)
      return rendered.dryRun == .skip
        ? .nothing : .message(JobMessage(rendered, hasMarks: variants.hasMarks))
    } catch {
      return .refused(error)
    }
  }
}

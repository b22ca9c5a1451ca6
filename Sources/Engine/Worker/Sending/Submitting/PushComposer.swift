internal import HTTP2
internal import Model
internal import Store

/// Makes what a push says, as late as it can be: its message, and the body in which its own values are filled in. A push that
/// has none is decided here; loop-bound.
final class PushComposer {
  private let clock: LaneClock
  private let destinations: DestinationTable
  private let gate: SendingGate
  private let router: PushRouter
  private let reasons: ReasonLog
  /// The body of a request in which texts are filled in, from when it is made until it is submitted.
  private(set) var filled: [UInt8] = []

  init(
    clock: LaneClock, destinations: DestinationTable, gate: SendingGate, router: PushRouter,
    reasons: ReasonLog
  ) {
    self.clock = clock
    self.destinations = destinations
    self.gate = gate
    self.router = router
    self.reasons = reasons
  }

  // MARK: Messages

  /// Returns the message that a push is sent as; nil when it was decided without being sent, or put aside.
  func message(
    _ run: PushRun, _ index: Int, _ destination: Destination
  ) -> JobMessage? {
    if let hindrance = gate.hindrance(run, index) {
      gate.withdraw(run, index, because: hindrance)
      return nil
    }
    if run.material.verdicts.isAnyCondemned,
      run.material.verdicts.isCondemned(by: destination.network)
    {
      run.decide(index, .rejected, because: .contentRefused)
      return nil
    }
    if router.holdsBack(run, push: index, destination) { return nil }
    let rendering = run.material.rendering(
      for: destination.number, at: destination.identity.place,
      variant: run.pushes[index].variant, provider: destination.provider, nowMs: clock.wallMs)
    if case .message(let message) = rendering { return message }
    decideUnsendable(run, index, rendering)
    return nil
  }

  private func decideUnsendable(
    _ run: PushRun, _ index: Int, _ rendering: JobRendering
  ) {
    switch rendering {
    case .message: return
    case .refused(let field):
      reasons.note("\(run.claim.app): job \(run.claim.job) cannot be sent: \(field)")
      run.decide(index, .rejected, because: .unrenderable)
    case .empty: run.decide(index, .skipped, because: .notForNetwork)
    case .nothing: run.decide(index, .skipped, because: .noDryRun)
    }
  }

  // MARK: Requests

  /// Lends the path and the body of a push; the path is empty where its message has one for all.
  /// - Returns: nil when there is no body, and the push was decided.
  func withRequest(
    _ message: JobMessage, _ run: PushRun, _ index: Int,
    _ use: (_ path: UnsafeRawBufferPointer, _ body: RequestBody) -> Bool
  ) -> Bool? {
    withBody(message, run, index) { body in
      withPath(message.pathPrefix, run.pushes[index].token) { path in use(path, body) }
    }
  }

  private func withPath<Result>(
    _ prefix: UnsafeRawBufferPointer, _ token: UnsafeRawBufferPointer,
    _ use: (UnsafeRawBufferPointer) -> Result
  ) -> Result {
    guard !prefix.isEmpty else { return use(prefix) }
    let count = prefix.count + token.count
    return withUnsafeTemporaryAllocation(byteCount: count, alignment: 1) { path in
      path.copyMemory(from: prefix)
      UnsafeMutableRawBufferPointer(rebasing: path[prefix.count...]).copyMemory(from: token)
      return use(UnsafeRawBufferPointer(path))
    }
  }

  private func withBody(
    _ message: JobMessage, _ run: PushRun, _ index: Int, _ use: (RequestBody) -> Bool
  ) -> Bool? {
    if let template = message.template {
      guard template.aroundOne == nil else { return join(template, run, index).map(use) }
      guard fill(template, run, index) else { return nil }
      return filled.withUnsafeBytes { use(RequestBody(copying: $0)) }
    }
    return use(message.body(to: run.pushes[index].token))
  }

  /// Writes the body of a push to `filled`, or decides the push.
  /// - Parameters:
  ///   - tokens: of the pushes that leave with it, its own the first; nil for its own alone.
  ///   - id: of a request that has one.
  /// - Returns: whether there is a body.
  func fill(
    _ template: BodyTemplate, _ run: PushRun, _ index: Int,
    tokens: [UnsafeRawBufferPointer]? = nil, id: [UInt8] = []
  ) -> Bool {
    guard let values = values(run, index) else { return false }
    let push = run.pushes[index]
    guard
      let hindrance = template.fill(
        &filled, with: values, badge: Int(push.badge), tokens: tokens ?? [push.token], id: id)
    else { return true }
    reject(run, index, because: hindrance)
    return false
  }

  /// The body of a push whose only value stays where it is, or nil when the push was decided.
  private func join(_ template: BodyTemplate, _ run: PushRun, _ index: Int) -> RequestBody? {
    guard let values = values(run, index) else { return nil }
    switch template.join(with: values) {
    case .success(let body): return body
    case .failure(let hindrance):
      reject(run, index, because: hindrance)
      return nil
    }
  }

  /// Returns the values that fill the texts of a push, or nil when there is nothing usable, and the push was decided.
  private func values(
    _ run: PushRun, _ index: Int
  ) -> ArraySlice<UnsafeRawBufferPointer?>? {
    guard !run.material.variants.placeholders.isEmpty else { return [] }
    let row = run.pushes[index].variables
    if let values = run.variables[row] { return values }
    let isHash = row != .noHash
    note(
      run,
      isHash
        ? "what its variables_key holds of some users is no JSON object of strings, numbers and booleans, or "
          + "too long: they are not sent to"
        : "the key that its variables_key names is no HASH, or may not be read")
    run.decide(index, .rejected, because: isHash ? .unreadableVariables : .noVariablesHash)
    return nil
  }

  private func reject(
    _ run: PushRun, _ index: Int, because hindrance: BodyTemplate.Hindrance
  ) {
    switch hindrance {
    case .missing(let number):
      let name = run.material.variants.placeholders[number].name
      note(
        run, "some users have no value for {{\(name)}}, which has no default: they are not sent to")
      run.decide(index, .rejected, because: .missingVariable)
    case .tooLarge:
      let network = run.pushes[index].network.rawValue
      note(
        run, "with some users' values it is longer than \(network) allows: they are not sent to")
      run.decide(index, .rejected, because: .payloadTooLarge)
    }
  }

  private func note(_ run: PushRun, _ what: String) {
    reasons.note("\(run.claim.app): job \(run.claim.job): \(what)")
  }

  // MARK: Before there is a push

  /// Whether a push to there would have a body with these values, whatever its badge: nobody's badge is raised for one that
  /// has none.
  /// - Parameter values: nil when there is nothing usable.
  func canSend(
    _ run: PushRun, _ target: PushTarget, _ variant: UInt8,
    _ values: ArraySlice<UnsafeRawBufferPointer?>?
  ) -> Bool {
    // What has no destination here is another worker's.
    guard let number = target.number else { return true }
    let destination = destinations.destination(number)
    let rendering = run.material.rendering(
      for: number, at: destination.identity.place, variant: variant,
      provider: destination.provider, nowMs: clock.wallMs)
    guard case .message(let message) = rendering else { return false }
    guard let template = message.template else { return true }
    return values.map { template.hindrance(with: $0) == nil } ?? false
  }

  /// Decides a push that has no body, and says why.
  func decideUnsendable(_ run: PushRun, _ index: Int) {
    guard let number = run.pushes[index].target.number else {
      return router.enqueue(run, push: index)
    }
    guard let message = message(run, index, destinations.destination(number)) else { return }
    guard let values = values(run, index) else { return }
    guard let hindrance = message.template?.hindrance(with: values) else {
      return router.enqueue(run, push: index)
    }
    reject(run, index, because: hindrance)
  }
}

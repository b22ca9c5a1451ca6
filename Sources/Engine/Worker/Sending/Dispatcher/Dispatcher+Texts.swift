internal import HTTP2
internal import Model
internal import Store

// Texts that are filled in for each push.
extension Dispatcher {
  /// Writes the body of a push to `filled`, or decides the push.
  /// - Parameters:
  ///   - tokens: of the pushes that leave with it, its own the first; nil for its own alone.
  ///   - id: of a request that has one.
  /// - Returns: whether there is a body.
  func fill(
    _ template: BodyTemplate, _ run: ChunkRun, _ index: Int,
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
  func join(_ template: BodyTemplate, _ run: ChunkRun, _ index: Int) -> RequestBody? {
    guard let values = values(run, index) else { return nil }
    switch template.join(with: values) {
    case .success(let body): return body
    case .failure(let hindrance):
      reject(run, index, because: hindrance)
      return nil
    }
  }

  /// Whether a push to there would have a body with these values, whatever its badge: nobody's badge is raised for one that
  /// has none.
  /// - Parameter values: nil when there is nothing usable.
  func canSend(
    _ run: ChunkRun, _ route: Route, _ variant: UInt8,
    _ values: ArraySlice<UnsafeRawBufferPointer?>?
  ) -> Bool {
    // What has no destination here is another worker's.
    guard let number = route.number else { return true }
    let rendering = run.material.rendering(
      for: number, variant: variant, provider: destination(number).provider, nowMs: wallMs)
    guard case .message(let message) = rendering else { return false }
    guard let template = message.template else { return true }
    return values.map { template.hindrance(with: $0) == nil } ?? false
  }

  /// Decides a push that has no body, and says why.
  func decideUnsendable(_ run: ChunkRun, _ index: Int) {
    guard let number = run.pushes[index].route.number else {
      return enqueue(run, push: index)
    }
    guard let message = message(run, index, destination(number)) else { return }
    guard let values = values(run, index) else { return }
    guard let hindrance = message.template?.hindrance(with: values) else {
      return enqueue(run, push: index)
    }
    reject(run, index, because: hindrance)
  }

  /// Returns the values that fill the texts of a push, or nil when there is nothing usable, and the push was decided.
  private func values(
    _ run: ChunkRun, _ index: Int
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
    _ run: ChunkRun, _ index: Int, because hindrance: BodyTemplate.Hindrance
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

  private func note(_ run: ChunkRun, _ what: String) {
    reasons.note("\(run.claim.app): job \(run.claim.job): \(what)")
  }
}

internal import Model
internal import Store

// Texts that are filled in for each push.
extension Dispatcher {
  /// Writes the body of a push to `filled`, or decides the push.
  /// - Parameter id: of a request that has one.
  /// - Returns: whether there is a body.
  func fill(
    _ template: BodyTemplate, _ run: ChunkRun, _ index: Int, id: [UInt8] = []
  ) -> Bool {
    let push = run.pushes[index]
    guard let values = run.variables[push.variables] else {
      let isHash = push.variables != .noHash
      reasons.note(
        isHash
          ? "\(run.claim.app): job \(run.claim.job): what its variables_key holds of some users is no JSON "
            + "object of strings, numbers and booleans: they are not sent to"
          : "\(run.claim.app): job \(run.claim.job): the key that its variables_key names is no HASH"
      )
      run.decide(
        index, .rejected, because: isHash ? .unreadableVariables : .noVariablesHash)
      return false
    }
    switch template.fill(&filled, with: values, token: push.token, id: id) {
    case nil: return true
    case .missing(let number):
      let name = run.material.variants.placeholders[number].name
      reasons.note(
        "\(run.claim.app): job \(run.claim.job): some users have no value for {{\(name)}}, which has no "
          + "default: they are not sent to")
      run.decide(index, .rejected, because: .missingVariable)
    case .tooLarge:
      reasons.note(
        "\(run.claim.app): job \(run.claim.job): with some users' values it is longer than "
          + "\(push.network.rawValue) allows: they are not sent to")
      run.decide(index, .rejected, because: .payloadTooLarge)
    }
    return false
  }
}

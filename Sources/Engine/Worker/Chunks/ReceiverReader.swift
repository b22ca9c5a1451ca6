internal import Model
internal import Redis
internal import Store

/// Reads what a job's texts need to know of each receiver: the language of an installation, a user's values; loop-bound.
struct ReceiverReader {
  let store: Store

  /// What is known of some receivers.
  struct Receivers {
    /// Of each user: where its values are.
    var rows: [VariableTable.Row]
    /// Of each installation: which of the job's `MessageVariants` it gets.
    var variants: [UInt8]
  }

  /// - Parameters:
  ///   - users: borrowed, as the tokens.
  ///   - tokens: of installations.
  func read(
    _ run: ChunkRun, users: [UnsafeRawBufferPointer],
    tokens: [(network: Network, token: UnsafeRawBufferPointer)]
  ) async throws(RedisError) -> Receivers {
    var receivers = Receivers(
      rows: Array(repeating: .none, count: users.count),
      variants: Array(repeating: 0, count: tokens.count))
    if run.material.variants.hasLanguages {
      try await readLanguages(run, tokens, &receivers.variants)
    }
    if !run.material.variants.placeholders.isEmpty {
      try await readVariables(run, users, &receivers.rows)
    }
    return receivers
  }

  private func readLanguages(
    _ run: ChunkRun, _ tokens: [(network: Network, token: UnsafeRawBufferPointer)],
    _ variants: inout [UInt8]
  ) async throws(RedisError) {
    var found = variants
    for first in stride(from: 0, to: tokens.count, by: StoreLimits.languagesMax) {
      let part = tokens[first..<min(first + StoreLimits.languagesMax, tokens.count)]
      try await store.installations.languages(app: run.claim.app, of: part) { index, language in
        found[index] = run.material.variant(language: language)
      }
    }
    variants = found
  }

  private func readVariables(
    _ run: ChunkRun, _ users: [UnsafeRawBufferPointer], _ rows: inout [VariableTable.Row]
  ) async throws(RedisError) {
    switch run.material.content.variables {
    case nil: return
    case .given(let given):
      rows = users.map { run.addVariables(Variables.values(of: $0, in: given) ?? [:]) }
    case .key(let key):
      var found = rows
      let isReadable = try await store.variables.resolve(key, of: users) { index, values in
        switch values {
        case .nothing: found[index] = run.addVariables([:])
        case .json(let json): found[index] = run.addVariables(json: json)
        case .tooLong: found[index] = .unreadable
        }
      }
      rows = isReadable ? found : Array(repeating: .noHash, count: users.count)
    }
  }
}

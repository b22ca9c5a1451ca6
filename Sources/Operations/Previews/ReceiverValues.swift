package import Model
package import Redis
package import Store

/// The values that fill in the placeholders of a job's texts for one user.
package enum ReceiverValues: Sendable, Equatable {
  /// By name.
  case values([String: String])
  /// The value that the job's HASH holds of the user is no JSON object of strings, numbers and booleans.
  case unreadable
  /// The job's key is no HASH.
  case noHash

  /// Takes them from the job or, where it names a key, from the first store that has any.
  /// - Parameter user: nil for nobody in particular, who has none.
  package static func read(
    for user: String?, of job: Job, in stores: [ShardStore]
  ) async throws(RedisError) -> ReceiverValues {
    guard let user, let variables = job.content.variables else { return .values([:]) }
    switch variables {
    case .given(let given):
      let values = Array(user.utf8).withUnsafeBytes { Variables.values(of: $0, in: given) }
      return .values(values ?? [:])
    case .key(let key):
      do throws(RedisError) {
        let json = try await stores.firstAnswer { store throws(RedisError) in
          try await store.variables.value(key, of: user)
        }
        guard let json else { return .values([:]) }
        return json.withUnsafeBytes { Variables.values(in: $0) }.map { .values($0) } ?? .unreadable
      } catch {
        guard case .server("WRONGTYPE", _) = error else { throw error }
        return .noHash
      }
    }
  }
}

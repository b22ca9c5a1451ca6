package import Model
package import Redis
package import Store

/// What the placeholders of a job's texts are filled in with for one user.
package enum ReceiverValues: Sendable, Equatable {
  /// By name.
  case values([String: String])
  /// What the job's HASH holds of the user is no JSON object of strings, numbers and booleans.
  case unreadable
  /// The job's key is no HASH.
  case noHash

  /// Takes them from the job or, where it names a key, from the first store that has any.
  /// - Parameter user: nil for nobody in particular, who has none.
  package static func read(
    for user: String?, of job: Job, in stores: [Store]
  ) async throws(RedisError) -> ReceiverValues {
    guard let user, let variables = job.content.variables else { return .values([:]) }
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: user.utf8.count, alignment: 1)
    defer { bytes.deallocate() }
    bytes.copyBytes(from: user.utf8)
    switch variables {
    case .given(let given):
      return .values(Variables.values(of: UnsafeRawBufferPointer(bytes), in: given) ?? [:])
    case .key(let key):
      for store in stores {
        var json: [UInt8]?
        let isHash = try await store.variables.read(key, of: [UnsafeRawBufferPointer(bytes)]) {
          json = $1.map { Array($0) }
        }
        guard isHash else { return .noHash }
        guard let json else { continue }
        return json.withUnsafeBytes { Variables.values(in: $0) }.map { .values($0) } ?? .unreadable
      }
      return .values([:])
    }
  }
}

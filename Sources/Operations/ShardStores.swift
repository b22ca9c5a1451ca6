package import Model
package import Redis
package import Store

extension [ShardStore] {
  /// The store of a shard; nil for a shard that is none of these.
  package func of(_ shard: ShardID) -> ShardStore? { first { $0.id == shard } }

  /// Asks one store after another until one knows the answer.
  func firstAnswer<Value>(
    _ ask: (ShardStore) async throws(RedisError) -> Value?
  ) async throws(RedisError) -> Value? {
    for store in self {
      if let answer = try await ask(store) { return answer }
    }
    return nil
  }
}

extension ShardStore {
  /// Reads the record of a job, which says from then on that it is of this shard; nil when there is none.
  package func record(app: String, job: String) async throws(RedisError) -> JobRecord? {
    try await jobs.record(app: app, id: job).map(own)
  }

  /// Returns a record of this shard as one that says so.
  func own(_ record: JobRecord) -> JobRecord {
    var record = record
    record.shard = id
    return record
  }
}

/// Reads what is shown of a key: nothing where it holds another type, of which an alarm tells (`KeyTypes`).
func readable<Value>(
  _ nothing: Value, _ read: () async throws(RedisError) -> Value
) async throws(RedisError) -> Value {
  do throws(RedisError) { return try await read() } catch {
    guard case .server("WRONGTYPE", _) = error else { throw error }
    return nothing
  }
}

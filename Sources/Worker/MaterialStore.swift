internal import Model
internal import Redis
internal import Store

/// The jobs that a lane has in hand, each read and rendered once; bounded, the one used longest ago goes
/// first. Loop-bound.
final class MaterialStore {
  private let store: Store
  private var materials: [String: JobMaterial] = [:]
  private var order: [String] = []

  init(store: Store) {
    self.store = store
  }

  /// - Returns: nil when the job is not kept any more.
  func material(for claim: ChunkClaim) async throws(RedisError) -> JobMaterial? {
    // The source too: a job whose record has expired may be followed by another of the same id.
    let key = "\(claim.app)/\(claim.source)/\(claim.job)"
    if let known = materials[key] {
      order.removeAll { $0 == key }
      order.append(key)
      return known
    }
    guard let bytes = try await store.jobs.content(app: claim.app, id: claim.job),
      let record = try await store.jobs.record(app: claim.app, id: claim.job),
      let content = try? JobContent(bytes: bytes)
    else { return nil }
    let material = JobMaterial(content: content, createdAtMs: record.createdAtMs ?? 0)
    materials[key] = material
    order.append(key)
    if order.count > WorkerLimits.materialsMax { materials[order.removeFirst()] = nil }
    return material
  }
}

internal import Model
internal import Redis
internal import Store

/// The jobs that a lane has in hand, each read and rendered once; bounded by their number and bytes, the one used longest ago
/// goes first. Loop-bound.
final class MaterialStore {
  /// The outcome of looking for a claim's job.
  enum Finding {
    case material(JobMaterial)
    /// The job's record is not kept any more.
    case gone
    /// Nobody can send this job; a code and a sentence.
    case unusable(reason: String, message: String)
  }

  private let store: ShardStore
  private let tracer: Tracer
  private struct Remembered {
    let material: JobMaterial
    let bytes: Int

    /// - Parameter contentBytes: of its content as Redis keeps it.
    init(_ material: JobMaterial, contentBytes: Int) {
      self.material = material
      // It is rendered once for each variant.
      bytes =
        contentBytes * material.variants.contents.count
        + (material.firstBindings == nil ? 0 : WorkerLimits.firstBindingsBytesMax)
    }
  }

  private var remembered: [String: Remembered] = [:]
  private var order: [String] = []
  /// Bytes of all that are remembered.
  private var rememberedBytes = 0

  init(store: ShardStore, tracer: Tracer) {
    self.store = store
    self.tracer = tracer
  }

  func find(_ claim: ChunkClaim) async throws(RedisError) -> Finding {
    // The source too: a job whose record has expired may be followed by another of the same id. And the digest: that one may
    // have come by the same entry id.
    let key = Self.key(
      app: claim.app, source: claim.source, id: claim.job, digest: claim.digest,
      round: claim.round)
    if let known = remembered[key] {
      if let place = order.firstIndex(of: key) { order.remove(at: place) }
      order.append(key)
      return .material(known.material)
    }
    let found: JobRecord?
    do throws(RedisError) {
      found = try await store.jobs.record(app: claim.app, id: claim.job)
    } catch {
      // To ask again would get the same answer, and hold up every other chunk of the lane.
      guard case .unexpectedReply(let what) = error else { throw error }
      return .unusable(
        reason: "record_unreadable",
        message:
          "The record of this job in Redis cannot be read: \(what); correct the field, then retry this"
      )
    }
    guard let record = found else { return .gone }
    guard let bytes = try await store.jobs.content(app: claim.app, id: claim.job) else {
      return .unusable(
        reason: "content_missing",
        message: "The content of this job is no longer in Redis; look for what deletes keys there, "
          + "as an eviction policy does, and enqueue the job anew")
    }
    var content: JobContent
    do throws(InvalidField) { content = try JobContent(bytes: bytes) } catch {
      return .unusable(
        reason: "content_unreadable",
        message: "The content of this job in Redis cannot be read: \(error); if a newer version "
          + "wrote it, retry this when all workers are of that version")
    }
    if let expiresAtMs = record.expiresAtMs { content.expiry = .at(ms: expiresAtMs) }
    let material = JobMaterial(
      content: content, createdAtMs: record.createdAtMs ?? 0, round: claim.round,
      trace: tracer.trace(app: claim.app, job: claim.job, isFull: content.trace))
    remember(Remembered(material, contentBytes: bytes.count), key)
    return .material(material)
  }

  /// Notes what this lane has just admitted, so that its own first chunk need not ask for it.
  /// - Parameter contentBytes: of the content as Redis keeps it.
  func add(
    _ content: JobContent, contentBytes: Int, createdAtMs: Int64, app: String, source: String,
    id: String, digest: String, firstBindings: FirstBindings?
  ) {
    // Of a job that starts several times each round has its own.
    guard content.schedule == nil else { return }
    let material = make(
      content, createdAtMs: createdAtMs, app: app, id: id, firstBindings: firstBindings)
    remember(
      Remembered(material, contentBytes: contentBytes),
      Self.key(app: app, source: source, id: id, digest: digest, round: nil))
  }

  /// Makes the material of a job that is sent from its entry: nobody asks for it again.
  func make(
    _ content: JobContent, createdAtMs: Int64, app: String, id: String,
    firstBindings: FirstBindings?
  ) -> JobMaterial {
    JobMaterial(
      content: content, createdAtMs: createdAtMs,
      trace: tracer.trace(app: app, job: id, isFull: content.trace), firstBindings: firstBindings)
  }

  private func remember(_ new: Remembered, _ key: String) {
    let former = remembered.updateValue(new, forKey: key)
    if former == nil { order.append(key) }
    rememberedBytes += new.bytes - (former?.bytes ?? 0)
    while order.count > countMax {
      rememberedBytes -= remembered.removeValue(forKey: order.removeFirst())?.bytes ?? 0
    }
  }

  /// How many may be remembered, as large as they are.
  private var countMax: Int {
    rememberedBytes > WorkerLimits.materialBytesMax
      ? WorkerLimits.largeMaterialsMax : WorkerLimits.materialsMax
  }

  private static func key(
    app: String, source: String, id: String, digest: String, round: Int?
  ) -> String {
    "\(app)/\(source)/\(round ?? 0)/\(digest)/\(id)"
  }
}

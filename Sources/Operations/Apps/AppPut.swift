internal import Model
internal import Providers
package import PushpoolConfiguration
internal import Redis
package import Store

/// An app that somebody puts into Redis.
package struct AppPut: Sendable {
  private let document: AppDocument
  private let id: String
  private let mode: AppRecordStore.Mode
  private let revisions: [String]?
  private let keys: SealingKeys
  private let maker: String
  private let nowMs: Int64

  /// - Parameters:
  ///   - revisions: one of these the app must have, beside what the document says; nil for any.
  ///   - keys: seal the app's secrets, and open those that are to stay.
  ///   - maker: a user of a machine, or the id of a key.
  ///   - nowMs: epoch milliseconds.
  package init(
    _ document: AppDocument, id: String, _ mode: AppRecordStore.Mode,
    oneOf revisions: [String]? = nil,
    keys: SealingKeys, by maker: String, nowMs: Int64
  ) {
    self.document = document
    self.id = id
    self.mode = mode
    self.revisions = revisions
    self.keys = keys
    self.maker = maker
    self.nowMs = nowMs
  }

  /// Puts it, unless the configuration file of a worker has an app of its name.
  package func run(in session: StoreSession) async throws(StoreFailure) -> AppOffice.Answer {
    guard try await !isInFile(session) else { return .inFile }
    let value = try await session.atHome { fleet throws(RedisError) in
      try await fleet.apps.find(id)
    }
    switch await draft(instead: value) {
    case .answer(let answer): return answer
    case .record(let record, let bytes, let revision):
      return try await session.atHome { fleet throws(RedisError) in
        switch try await fleet.apps.put(id, value: bytes, mode, revision: revision) {
        case .added: .added(record)
        case .replaced: .replaced(record)
        case .exists: .exists
        case .missing: .missing
        case .changed: .changed(.meanwhile)
        case .full: .full
        }
      }
    }
  }

  private func isInFile(_ session: StoreSession) async throws(StoreFailure) -> Bool {
    let standsInRedis = try await session.atHome { fleet throws(RedisError) in
      try await fleet.apps.has(id)
    }
    // In a shard that is away one may be: workers go by their file then, and say so.
    return try await session.ask(in: .present) { stores throws(RedisError) in
      for store in stores {
        let nowMs = try await store.serverMs()
        // A worker that leaves the app out may have it of Redis.
        if try await store.routes.isConfigured(id, nowMs: nowMs, orLeavesOut: !standsInRedis) {
          return true
        }
      }
      return false
    }
  }

  /// A change before it is written.
  private enum Draft: Sendable {
    /// Nothing is to be written.
    case answer(AppOffice.Answer)
    /// - Parameter revision: that the app must have; nil for any.
    case record(AppRecord, [UInt8], revision: String?)
  }

  /// Makes the record, and providers of it, as workers will. Somebody else's file may ask for much work: no loop waits for it.
  /// - Parameter value: of the app as Redis has it; nil where it has none.
  @concurrent
  private func draft(instead value: [UInt8]?) async -> Draft {
    if mode == .add, value != nil { return .answer(.exists) }
    if mode == .set, value == nil { return .answer(.missing) }
    // One that cannot be read is replaced by whoever gives all of its secrets.
    let existing = value.flatMap { try? AppRecord(id: id, value: $0) }
    if let revisions, !revisions.contains(where: { $0 == existing?.revision }) {
      return .answer(.changed(.replaced(existing)))
    }
    // Before its secrets are looked for, of which those may be gone that are to stay.
    if let revision = document.revision, existing?.revision != revision {
      return .answer(.changed(value == nil ? .removed : .replaced(existing)))
    }
    let record: AppRecord
    let bytes: [UInt8]
    do throws(InvalidField) {
      record = try AppRecord(
        document, id: id, instead: existing, keys: keys, nowMs: nowMs, by: maker)
      bytes = try record.value()
      try check(record)
    } catch { return .answer(.refused(error)) }
    if let existing, isSame(existing, record) { return .answer(.unchanged(existing)) }
    // What stays was read of this revision.
    let isBound = document.revision != nil || revisions != nil || document.keepsSecrets
    return .record(record, bytes, revision: isBound ? existing?.revision : nil)
  }

  private func check(_ record: AppRecord) throws(InvalidField) {
    let secrets: [AppSecretName: AppSecret]
    do throws(AppRecordFault) { secrets = try record.open(keys) } catch {
      throw InvalidField(pointer: error.pointer, message: error.message)
    }
    try AppMaterial(id: record.id, record.form, secrets: secrets).check()
  }

  private func isSame(_ one: AppRecord, _ other: AppRecord) -> Bool {
    guard one.form == other.form, one.isSealed(with: keys), let own = try? one.open(keys) else {
      return false
    }
    return own == (try? other.open(keys))
  }
}

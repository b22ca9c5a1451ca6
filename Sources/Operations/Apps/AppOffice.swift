internal import HTTPClient
package import Model
internal import Providers
internal import PushpoolConfiguration
package import Redis
package import Store

/// The apps that stand in Redis: put there, removed, shown and listed. They belong to the fleet, in whichever shard their work is.
package struct AppOffice {
  /// The result of putting an app.
  package enum Answer: Sendable, Equatable {
    case added(AppRecord)
    case replaced(AppRecord)
    /// The app is as it was to be already.
    case unchanged(AppRecord)
    /// The document breaks a rule, or one of its secrets is none.
    case refused(InvalidField)
    /// There is one already.
    case exists
    /// There is none yet.
    case missing
    /// The configuration file of a worker has the app.
    case inFile
    /// Somebody has changed it meanwhile.
    case changed
    /// `ConfigurationLimits.redisAppsMax` are there.
    case full
  }

  /// An app as Redis has it: its record, or why that is none.
  package struct Listed: Sendable {
    package let id: String
    package let record: Result<AppRecord, AppRecordFault>
  }

  private let apps: AppRecordStore

  package init(fleet: FleetStore) { apps = fleet.apps }

  // MARK: Changing

  /// Puts an app. Whether a configuration file has it, `AppPut` asks before.
  /// - Parameters:
  ///   - keys: seal its secrets, and open those that are to stay.
  ///   - maker: a user of a machine, or the id of a key.
  ///   - nowMs: epoch milliseconds.
  func put(
    _ document: AppDocument, id: String, _ mode: AppRecordStore.Mode, keys: SealingKeys,
    by maker: String, nowMs: Int64
  ) async throws(RedisError) -> Answer {
    let value = try await apps.find(id)
    if mode == .add, value != nil { return .exists }
    if mode == .set, value == nil { return .missing }
    // One that cannot be read is replaced by whoever gives all of its secrets.
    let existing = value.flatMap { try? AppRecord(id: id, value: $0) }
    let record: AppRecord
    let bytes: [UInt8]
    do throws(InvalidField) {
      record = try AppRecord(
        document, id: id, instead: existing, keys: keys, nowMs: nowMs, by: maker)
      bytes = try record.value()
      try Self.check(record, keys)
    } catch { return .refused(error) }
    if let revision = document.revision, existing?.revision != revision { return .changed }
    if let existing, Self.isSame(existing, record, keys) { return .unchanged(existing) }
    // What stays was read of this revision.
    let revision = document.revision ?? (document.keepsSecrets ? existing?.revision : nil)
    return switch try await apps.put(id, value: bytes, mode, revision: revision) {
    case .added: .added(record)
    case .replaced: .replaced(record)
    case .exists: .exists
    case .missing: .missing
    case .changed: .changed
    case .full: .full
    }
  }

  /// Makes providers of it, as workers will.
  private static func check(
    _ record: AppRecord, _ keys: SealingKeys
  ) throws(InvalidField) {
    let secrets: [AppSecretName: AppSecret]
    do throws(AppRecordFault) { secrets = try record.open(keys) } catch {
      throw InvalidField(pointer: error.pointer, message: error.message)
    }
    try AppMaterial(id: record.id, record.form, secrets: secrets).check(HTTPClient())
  }

  private static func isSame(
    _ one: AppRecord, _ other: AppRecord, _ keys: SealingKeys
  ) -> Bool {
    guard one.form == other.form, one.isSealed(with: keys), let own = try? one.open(keys) else {
      return false
    }
    return own == (try? other.open(keys))
  }

  /// Removes an app.
  /// - Parameter revision: that it must have; nil for any.
  package func remove(
    _ id: String, revision: String? = nil
  ) async throws(RedisError) -> AppRecordStore.Removal {
    try await apps.remove(id, revision: revision)
  }

  // MARK: Looking

  package func find(_ id: String) async throws(RedisError) -> Listed? {
    try await apps.find(id).map { Self.listed(id, $0) }
  }

  /// A page of the apps, by name.
  /// - Parameter last: the app that the page begins behind; nil for the first.
  /// - Returns: the apps, and whether there are more.
  package func page(
    after last: String? = nil, max: Int
  ) async throws(RedisError) -> (apps: [Listed], hasMore: Bool) {
    let ids = try await apps.ids().filter { id in last.map { $0 < id } ?? true }.sorted()
    let wanted = Array(ids.prefix(max))
    var found: [Listed] = []
    for first in stride(from: 0, to: wanted.count, by: StoreLimits.appsPage) {
      let some = Array(wanted[first..<min(first + StoreLimits.appsPage, wanted.count)])
      for (id, value) in zip(some, try await apps.find(some)) {
        if let value { found.append(Self.listed(id, value)) }
      }
    }
    return (found, ids.count > max)
  }

  private static func listed(_ id: String, _ value: [UInt8]) -> Listed {
    do throws(AppRecordFault) {
      return Listed(id: id, record: .success(try AppRecord(id: id, value: value)))
    } catch { return Listed(id: id, record: .failure(error)) }
  }

  // MARK: Sealing anew

  /// The result of sealing one app anew.
  package enum Sealing: Sendable, Equatable {
    case done
    /// The newest key has sealed it already.
    case already
    /// The app is gone.
    case gone
    /// No key at hand opens it.
    case refused(AppRecordFault)
  }

  /// The names of all apps.
  package func ids() async throws(RedisError) -> [String] {
    try await apps.ids().sorted()
  }

  /// Seals an app with the newest of the keys, unless it is. May be repeated.
  package func reseal(
    _ id: String, keys: SealingKeys
  ) async throws(RedisError) -> Sealing {
    while true {
      guard let value = try await apps.find(id) else { return .gone }
      let record: AppRecord
      let resealed: AppRecord
      do throws(AppRecordFault) {
        record = try AppRecord(id: id, value: value)
        if record.isSealed(with: keys) { return .already }
        resealed = try record.resealed(keys)
      } catch { return .refused(error) }
      let bytes: [UInt8]
      do throws(InvalidField) { bytes = try resealed.value() } catch {
        return .refused(AppRecordFault(pointer: error.pointer, message: error.message))
      }
      let answer = try await apps.put(id, value: bytes, .set, revision: record.revision)
      // Somebody has changed it meanwhile: once more.
      if answer != .changed { return answer == .replaced ? .done : .gone }
    }
  }
}

extension AppRecord {
  /// The app with its revision, as it may be given again. A secret is told by its facts.
  package func json() -> JSONObject {
    var object: JSONObject = [
      "id": .string(id), "revision": .string(revision), "changed_at": .integer(changedAtMs),
      "changed_by": .string(changedBy),
    ]
    for member in form.json({ secrets[$0]?.facts.json }).members {
      object[member.name] = member.value
    }
    return object
  }

  /// The networks that it has, such as `apns` and `apns.development`.
  package var networks: [String] {
    form.accounts.map { account in
      let name = account.network.rawValue
      return account.environment == .development ? "\(name).development" : name
    }
  }

  /// The keys that have sealed its secrets, each once.
  package var keyIDs: [String] { Set(secrets.values.map(\.keyID)).sorted() }
}

extension AppOffice.Listed {
  /// The app, or why nothing can be said of it.
  package func json() -> JSONObject {
    switch record {
    case .success(let record): record.json()
    case .failure(let fault): ["id": .string(id), "fault": .string(fault.description)]
    }
  }
}

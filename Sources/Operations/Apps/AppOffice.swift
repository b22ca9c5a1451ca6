package import Model
internal import PushpoolConfiguration
package import Redis
package import Store

/// The apps that stand in Redis: removed, shown, listed and sealed anew. They belong to the fleet, in whichever shard their work is.
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
    /// The app is not the one that the change is for.
    case changed(AppChange)
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

  /// Removes an app. `AppPut` puts one.
  /// - Parameter revisions: one of these it must have; nil for any.
  package func remove(
    _ id: String, oneOf revisions: [String]? = nil
  ) async throws(RedisError) -> AppRecordStore.Removal {
    guard let revisions else { return try await apps.remove(id) }
    guard let value = try await apps.find(id) else { return .missing }
    guard let record = try? AppRecord(id: id, value: value), revisions.contains(record.revision)
    else { return .changed }
    return try await apps.remove(id, revision: record.revision)
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
    /// No key at hand opens it, or somebody changes it all the time.
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
    for _ in 0..<OperationsLimits.resealTriesMax {
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
    return .refused(AppRecordFault(message: "is changed all the time: run it again"))
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

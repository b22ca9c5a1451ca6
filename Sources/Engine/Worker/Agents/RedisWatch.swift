internal import Logging
internal import Model
internal import Redis
internal import Store

/// Looks how Redis is set up, when it is connected and each minute, and says what would cost work that it has confirmed;
/// loop-bound.
final class RedisWatch: Agent {
  private let settings: SettingsStore
  private let records: RecordOutlook?
  private let accepted: Set<RedisRisk>
  private let log: Logger
  private let nowNs: () -> UInt64
  private var evictions = EvictionTally()
  private var findings: [RedisSettings.Finding] = []
  /// Whether CONFIG is forbidden, as managed Redis do: each try would be a line of the ACL's log.
  private var isConfigForbidden = false
  /// The last error that was logged about why Redis cannot be looked at.
  private var complaint: RedisError?

  /// - Parameters:
  ///   - records: looks whether the memory will do; nil for nobody.
  ///   - accepted: risks that nobody is to be told of.
  ///   - nowNs: a clock that is never set.
  init(
    settings: SettingsStore, records: RecordOutlook? = nil, accepted: Set<RedisRisk>, log: Logger,
    nowNs: @escaping () -> UInt64
  ) {
    self.records = records
    self.settings = settings
    self.accepted = accepted
    self.log = log
    self.nowNs = nowNs
  }

  /// An alarm for each risk that was found last and is not accepted, and one when the records will fill the memory.
  var alarmConditions: [AlarmCondition] {
    findings.map {
      AlarmCondition(field: AlarmKind.unsafeRedis.field($0.risk.rawValue), sentence: $0.sentence)
    } + (records?.alarmConditions ?? [])
  }

  /// Records are kept by these rules from now on.
  func use(_ retention: RetentionRules) { records?.use(retention) }

  func turn() async -> UInt64 {
    do throws(RedisError) {
      var found = try await settings.read()
      if found.hasAppendOnlyFile == false { found.savePoints = await savePoints() }
      complaint = nil
      note(found)
      await lookAtRecords(found)
    } catch {
      // A lost connection speaks for itself.
      if case .server = error, error != complaint {
        log.warning("whether Redis keeps what it is told is not known, for INFO fails: \(error)")
        complaint = error
      }
    }
    return WorkerLimits.redisLookMs
  }

  /// Why no worker is to begin with this Redis: work would surely be lost. Nil when there is no such reason.
  func refusal() async throws(RedisError) -> String? {
    let found = try await settings.read()
    guard found.evictsAnyKey, !accepted.contains(.eviction) else { return nil }
    return found.findings.first { $0.risk == .eviction }?.sentence
  }

  private func lookAtRecords(_ found: RedisSettings) async {
    do throws(RedisError) { try await records?.look(found) } catch {
      log.debug("whether the memory will do: \(error)")
    }
  }

  private func savePoints() async -> String? {
    guard !isConfigForbidden else { return nil }
    do throws(RedisError) { return try await settings.savePoints() } catch {
      if case .server = error { isConfigForbidden = true }
      return nil
    }
  }

  private func note(_ found: RedisSettings) {
    evictions.note(found.evictedKeys, nowNs: nowNs())
    var findings = found.findings
    if evictions.count > 0 { findings.append(RedisSettings.evicted(evictions.count)) }
    findings.removeAll { accepted.contains($0.risk) }
    for finding in findings where !self.findings.contains(where: { $0.risk == finding.risk }) {
      log.error("\(finding.sentence)", metadata: ["risk": "\(finding.risk.rawValue)"])
    }
    for finding in self.findings where !findings.contains(where: { $0.risk == finding.risk }) {
      log.notice("Redis is mended", metadata: ["risk": "\(finding.risk.rawValue)"])
    }
    self.findings = findings
  }
}

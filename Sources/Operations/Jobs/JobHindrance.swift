package import Model
package import Redis
package import Store

/// Something that keeps a job, or a part of it, from going on.
package enum JobHindrance: Sendable, Equatable {
  case paused
  /// The job has not started; when it does, in epoch milliseconds.
  case scheduled(Int64)
  /// The job waits for its next local time, in epoch milliseconds.
  case betweenLocalTimes(Int64)
  case switchedOff(KillSwitch, SwitchRemark)
  /// So many users of the job's app are switched off, and no more is left of the job than they may have. Whether the job is to them
  /// is not looked up.
  case usersSwitchedOff(app: String, count: Int)
  /// No worker beats at all.
  case noWorker
  /// An alarm about the job's app, with its sentence. The app lives in one shard, so that is not named.
  case alarm(field: String, message: String)

  /// Reads what the fleet tells now, the surest first. It only reads.
  /// - Parameter record: the job's; nil before a worker has taken it in.
  package static func all(
    of app: String, _ record: JobRecord?, in stores: [ShardStore]
  ) async throws(RedisError) -> [JobHindrance] {
    if record?.state == .paused { return [.paused] }
    let fleet = try await FleetSnapshot.read(stores)
    var hindrances = fleet.switches.entries.filter { $0.killSwitch.holds(app, record) }
      .map { JobHindrance.switchedOff($0.killSwitch, $0.remark) }
    if fleet.living.isEmpty { hindrances.append(.noWorker) }
    let loop = record.flatMap { record -> String? in
      guard record.state == .scheduled else { return nil }
      return record.bucket.map { AlarmKind.loop.field(app, $0) }
        ?? record.topic.map { AlarmKind.topicLoop.field(app, $0) }
    }
    hindrances += fleet.alarms.filter { isAbout(app, $0.field) || $0.field == loop }
      .map { .alarm(field: $0.field, message: $0.message) }
    if record?.state == .scheduled, let startAtMs = record?.startAtMs {
      hindrances.append(.scheduled(startAtMs))
    }
    if record?.state == .running, record?.pending == 0, let nextMs = record?.roundAtMs {
      hindrances.append(.betweenLocalTimes(nextMs))
    }
    if let record, record.state == .running, record.pending > 0 {
      let count = fleet.switches.entries.count { $0.killSwitch.isUser(of: app) }
      if record.pending <= count * Limits.installationsPerUserMax {
        hindrances.append(.usersSwitchedOff(app: app, count: count))
      }
    }
    return hindrances
  }

  private static func isAbout(_ app: String, _ field: String) -> Bool {
    let parts = field.split(separator: "|", omittingEmptySubsequences: false)
    guard parts.count > 1, parts[1] == app else { return false }
    return AlarmKind(field: field)?.explainsWaiting ?? false
  }

  /// Whether both are about the same thing, whatever they say of it.
  package func isSame(as other: JobHindrance) -> Bool {
    switch (self, other) {
    case (.switchedOff(let one, _), .switchedOff(let two, _)): one == two
    case (.alarm(let one, _), .alarm(let two, _)): one == two
    case (.usersSwitchedOff, .usersSwitchedOff): true
    default: self == other
    }
  }
}

extension KillSwitch {
  /// Whether it stops more of a job than single users.
  /// - Parameter record: the job's, once there is one.
  fileprivate func holds(_ app: String, _ record: JobRecord?) -> Bool {
    switch self {
    case .app(app), .network(app: app, _): true
    case .bucket(app: app, let off): record?.bucket.map { TextRule.isSame($0, off) } ?? false
    case .topic(app: app, let off): record?.topic.map { TextRule.isSame($0, off) } ?? false
    case .app, .network, .user, .bucket, .topic: false
    }
  }

  fileprivate func isUser(of app: String) -> Bool {
    if case .user(app: app, _) = self { true } else { false }
  }
}

extension JobHindrance {
  /// Returns its kind, and what there is to say of it.
  package var json: JSONObject {
    switch self {
    case .paused: return ["kind": .string("paused")]
    case .scheduled(let ms): return ["kind": .string("scheduled"), "at": .integer(ms)]
    case .betweenLocalTimes(let ms):
      return ["kind": .string("between_local_times"), "at": .integer(ms)]
    case .switchedOff(let killSwitch, let remark):
      var object: JSONObject = ["kind": .string("switched_off")]
      for member in killSwitch.json(remark).members { object[member.name] = member.value }
      return object
    case .usersSwitchedOff(let app, let count):
      return [
        "kind": .string("users_switched_off"), "app": .string(app), "count": .integer(count),
      ]
    case .noWorker: return ["kind": .string("no_worker")]
    case .alarm(let field, let message):
      return ["kind": .string("alarm"), "alarm": .string(field), "message": .string(message)]
    }
  }
}

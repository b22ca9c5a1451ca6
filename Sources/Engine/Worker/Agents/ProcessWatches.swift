internal import Model
internal import Providers

/// The watches on what is the same for all lanes of a process, in the lane that speaks for it; loop-bound.
struct ProcessWatches {
  let clock: ClockWatch
  let redis: RedisWatch?
  let certificates: CertificateWatch
  let memory: MemoryWatch
  let snapshot: LaneSnapshot
  let configuration: ConfigurationStanding

  /// Tells the log, each beat, what it has not been told.
  func report() {
    clock.report()
    certificates.report()
    memory.report()
  }

  /// The alarms that are to stand now.
  var alarmConditions: [AlarmCondition] {
    [clock.alarmCondition, memory.alarmCondition, configuration.alarmCondition].compactMap { $0 }
      + configuration.redisAppsAlarms + (redis?.alarmConditions ?? [])
      + certificates.alarmConditions + leftOut + conflicts
  }

  private var leftOut: [AlarmCondition] {
    snapshot.current.leftOut.prefix(WorkerLimits.leftOutAlarmsMax).map {
      AlarmCondition(field: AlarmKind.leftOut.field($0.id), sentence: $0.sentence)
    }
  }

  private var conflicts: [AlarmCondition] {
    snapshot.current.displaced.prefix(WorkerLimits.leftOutAlarmsMax).map {
      AlarmCondition(
        field: AlarmKind.appConflict.field($0),
        sentence:
          "\($0) is an app of the configuration file, and an app of Redis has the same name: the file's "
          + "counts; remove one of them (pushpool app remove \($0), or take it out of the file)")
    }
  }
}

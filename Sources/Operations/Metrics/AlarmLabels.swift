internal import Model
internal import Store

extension AlarmKind {
  /// Whether its alarms are about an app and a network, or about an app alone; else about neither.
  fileprivate var namesApp: (app: Bool, network: Bool) {
    switch self {
    case .breaker, .credential, .certificate, .unreachable, .setup, .foreignAnswers, .badConnection,
      .massDeath, .noWorker:
      (true, true)
    case .leftOut, .appConflict, .lostWork, .halfBinding, .loop, .topicLoop: (true, false)
    case .trimmed, .exhausted, .configuration, .redisApps, .clock, .descriptors, .memory,
      .unsafeRedis,
      .recordMemory, .wrongType, .refusesWrites:
      (false, false)
    }
  }
}

/// The subject of an alarm, as monitors are told it. What else its field names, such as a topic, a key or a worker, is no label.
struct AlarmLabels: Hashable {
  let kind: String
  var app = ""
  var network = ""

  /// A kind of a newer version is `other`.
  init(_ alarm: Alarm) {
    guard let kind = AlarmKind(field: alarm.field) else {
      self.kind = "other"
      return
    }
    self.kind = kind.rawValue
    let parts = alarm.field.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
    let names = kind.namesApp
    if names.app, parts.count > 1, (try? TextRule.checkApp(parts[1])) != nil { app = parts[1] }
    if names.network, parts.count > 2, Network(rawValue: parts[2]) != nil { network = parts[2] }
  }
}

/// The kinds of trouble that operators are to look at. An alarm's field in Redis is its kind and what it is about, with
/// `|` between them.
package enum AlarmKind: String, CaseIterable, Sendable {
  // About an app, a network and an environment.
  /// The network is in trouble, and the breaker open.
  case breaker
  /// The network refuses the credential, or none could be obtained.
  case credential
  /// The certificate that the app shows the network has expired, or soon will.
  case certificate
  /// The network cannot be reached, or does not answer.
  case unreachable
  /// The network refuses every push alike, because the app is set up wrongly.
  case setup
  /// Something else answers in the network's place.
  case foreignAnswers = "foreign_answers"
  /// One connection of several was bad, and was replaced.
  case badConnection = "bad_connection"
  /// Tokens die in numbers that speak for a wrong configuration.
  case massDeath = "mass_death"
  /// No worker has the app, or credentials of it for the network and environment.
  case noWorker = "no_worker"

  // About an app.
  /// Workers have left it out, since a file or a secret of it cannot be used.
  case leftOut = "left_out"
  /// The app stands in the configuration file and in Redis, and the file's counts.
  case appConflict = "app_conflict"
  /// Something has deleted keys of a job's work.
  case lostWork = "lost_work"
  /// Bindings were half there, and were mended.
  case halfBinding = "half_binding"
  /// The events of a bucket follow each other faster than people act.
  case loop
  /// The jobs of a topic do.
  case topicLoop = "topic_loop"

  // About a priority.
  /// Jobs were deleted from the producers' stream before a worker took them.
  case trimmed
  /// The producers' stream takes no more, since it has an entry with the highest id.
  case exhausted

  // About a field of the configuration.
  /// Workers refuse their configuration as it is now, and go by the one before.
  case configuration

  // About the apps of Redis.
  /// Workers do not take them as they are.
  case redisApps = "redis_apps"

  // About a worker.
  /// Its clock differs from that of Redis.
  case clock
  /// The worker has no file descriptor left.
  case descriptors
  /// The memory of the worker is near what its control group allows.
  case memory

  // About Redis.
  /// Redis is set up to lose what it has confirmed; see `RedisRisk`.
  case unsafeRedis = "unsafe_redis"
  /// The records of ended jobs will fill its memory.
  case recordMemory = "record_memory"
  /// A key of ours held a value of another type.
  case wrongType = "wrong_type"
  /// Redis answers reads, and refuses all writes. Nobody can write this alarm down: who looks sees it.
  case refusesWrites = "refuses_writes"

  /// Whether it tells why an app's pushes wait.
  package var explainsWaiting: Bool {
    switch self {
    case .breaker, .credential, .unreachable, .setup, .foreignAnswers, .noWorker, .leftOut: true
    // While a certificate holds, pushes go; once it does not, the alarms of the network say so.
    case .certificate, .badConnection, .massDeath, .lostWork, .halfBinding, .loop, .topicLoop,
      .appConflict, .redisApps, .trimmed, .exhausted, .configuration, .clock, .descriptors, .memory,
      .unsafeRedis,
      .recordMemory, .wrongType, .refusesWrites:
      false
    }
  }

  /// Whether a worker raises it alike in every shard that it serves, since it is about the process. Any other is about the
  /// shard in which it stands.
  package var isOfProcess: Bool {
    switch self {
    case .configuration, .redisApps, .descriptors, .memory: true
    case .breaker, .credential, .certificate, .unreachable, .setup, .foreignAnswers,
      .badConnection, .massDeath, .noWorker, .leftOut, .appConflict, .lostWork, .halfBinding, .loop,
      .topicLoop, .trimmed, .exhausted, .clock, .unsafeRedis, .recordMemory, .wrongType,
      .refusesWrites:
      false
    }
  }

  /// The field of the alarm about one thing.
  /// - Parameter subject: an app, network and environment; an app and bucket or topic; a priority; or a worker.
  package func field(_ subject: String...) -> String {
    ([rawValue] + subject).joined(separator: "|")
  }

  /// The kind of a field; nil when it is none of this version's.
  package init?(field: String) {
    self.init(rawValue: String(field.prefix { $0 != "|" }))
  }
}

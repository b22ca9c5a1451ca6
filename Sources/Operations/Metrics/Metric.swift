/// The metrics that monitors are told, each once: what docs/reference/metrics.md explains, and what alert rules and dashboards may
/// name.
///
/// No label holds a job, a user or a token. The labels `app`, `network`, `outcome`, `priority`, `state` and `kind` have as many values
/// as the configuration and this program know; `worker` has those that beat now.
package enum Metric: String, CaseIterable, MetricName {
  // The pushes.
  case pushes = "pushpool_pushes_total"
  case pushesSince = "pushpool_pushes_since_timestamp_seconds"

  // The work.
  case oldestReady = "pushpool_queue_oldest_ready_seconds"
  case queuedJobs = "pushpool_queue_jobs"
  case queuedChunks = "pushpool_queue_chunks"
  case delayedChunks = "pushpool_delayed_chunks"
  case backlogRecipients = "pushpool_backlog_recipients"
  case jobs = "pushpool_jobs"
  case deadLetters = "pushpool_dead_letters"

  // The fleet.
  case workers = "pushpool_workers"
  case alarm = "pushpool_alarm"
  case alarms = "pushpool_alarms"

  // Each worker.
  case workerInfo = "pushpool_worker_info"
  case requestDuration = "pushpool_provider_request_duration_seconds"
  case streams = "pushpool_http2_streams"
  case connections = "pushpool_http2_connections"
  case goAways = "pushpool_http2_goaways_total"
  case redisDuration = "pushpool_redis_command_duration_seconds"
  case loopLag = "pushpool_loop_lag_seconds"
  case cpu = "pushpool_worker_cpu_seconds_total"
  case memory = "pushpool_worker_resident_memory_bytes"
  case openFiles = "pushpool_worker_open_fds"
  case openFilesMax = "pushpool_worker_max_fds"
  case started = "pushpool_worker_start_time_seconds"

  // Redis.
  case redisMemory = "pushpool_redis_memory_bytes"
  case redisMemoryMax = "pushpool_redis_memory_max_bytes"
  case redisEvicted = "pushpool_redis_evicted_keys_total"

  // The reading itself.
  case readAt = "pushpool_read_timestamp_seconds"
  case leftOut = "pushpool_left_out"

  package var kind: MetricKind {
    switch self {
    case .pushes, .goAways, .cpu, .redisEvicted: .counter
    case .requestDuration, .redisDuration, .loopLag: .histogram
    case .pushesSince, .oldestReady, .queuedJobs, .queuedChunks, .delayedChunks, .backlogRecipients,
      .jobs, .deadLetters, .workers, .alarm, .alarms, .workerInfo, .streams, .connections, .memory,
      .openFiles, .openFilesMax, .started, .redisMemory, .redisMemoryMax, .readAt, .leftOut:
      .gauge
    }
  }

  /// One sentence, as monitors show it.
  package var help: String {
    switch self {
    case .pushes: "Installations that ended, by outcome, since the totals of the fleet began."
    case .pushesSince:
      "When the totals of the fleet began: a later time means that they were emptied."
    case .oldestReady:
      "For how long the oldest job or chunk that nobody has taken has been waiting."
    case .queuedJobs: "Jobs in the producers' stream that are not admitted yet."
    case .queuedChunks: "Chunks in the work stream, those that workers hold included."
    case .delayedChunks: "Chunks that wait for their time: retries, scheduled jobs, switches."
    case .backlogRecipients: "Recipients of running jobs that have not ended."
    case .jobs: "Open jobs by state."
    case .deadLetters: "Jobs and chunks that were given up, until somebody retries or drops them."
    case .workers: "Workers that have beaten of late."
    case .alarm: "Alarms that stand now, by kind; see docs/guides/operating.md."
    case .alarms: "How many alarms stand now."
    case .workerInfo: "Always 1: the host and the version of a worker."
    case .requestDuration: "How long a push network took to answer a request."
    case .streams: "Requests under way (used), and as many as the connections may carry (allowed)."
    case .connections: "Connections to push networks that can carry requests."
    case .goAways: "Connections that a push network ended by GOAWAY."
    case .redisDuration: "How long Redis's answers took, from the command's being written."
    case .loopLag: "How long a lane took to answer its own process, asked once a second."
    case .cpu: "Processor time of a worker in user and system mode."
    case .memory: "Resident memory of a worker."
    case .openFiles: "File descriptors that a worker has open."
    case .openFilesMax: "File descriptors that a worker may have open."
    case .started: "When a worker started, by Redis's clock."
    case .redisMemory: "Memory that Redis uses (used_memory)."
    case .redisMemoryMax: "Memory that Redis may use (maxmemory); 0 for no limit."
    case .redisEvicted: "Keys that Redis has evicted since it started: none should be."
    case .readAt: "When these metrics were read, by Redis's clock."
    case .leftOut: "What is not told here because there is too much of it."
    }
  }
}

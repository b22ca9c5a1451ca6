import Model
import Operations
import Redis
import Store
import Testing

/// What a watch of an enqueued job tells until the job has ended.
@Suite struct JobWatchTests {
  private static let text = Array(
    #"{"id": "j", "app": "shop", "audience": {"users": ["a"]}, "notification": {"body": "x"}}"#.utf8
  )

  /// Adds the job to a shard.
  private static func add(to store: ShardStore) async throws -> EnqueuedJob {
    let entry = try await store.jobs.enqueue(text, priority: .high)
    return EnqueuedJob(
      app: "shop", id: "j", priority: .high, entry: entry, shard: store.id, text: text)
  }

  @Test func `a watch that is told to stop stops, and the job waits on`() async throws {
    try await Shards.withStores { _, stores in
      let watch = JobWatch(job: try await Self.add(to: stores[1]), stores: stores)
      var waits = 0
      await #expect(throws: OperationError.stopped) {
        _ = try await watch.follow(Patience { waits < 2 }) { sighting in
          if case .waiting = sighting { waits += 1 }
        }
      }
      #expect(waits == 2)
      #expect(try await stores[1].backlog.status().jobs[.high] == 1)
    }
  }

  @Test func `what keeps a job from going on is told, of its own app only`() async throws {
    try await Shards.withStores { _, stores in
      func raise(_ field: String) async throws {
        try await stores[1].alarms.raise(field, by: "w", lifeMs: 60_000, message: "about \(field)")
      }
      let alarms = ["no_worker|shop", "credential|shop|apns|production"]
      for field in alarms + ["no_worker|shopping", "clock|shop", "mass_death|shop|apns|production"]
      {
        try await raise(field)
      }
      for off in [KillSwitch.network(app: "shop", .fcm), .app("other"), .user(app: "shop", "u")] {
        _ = try await Switchboard(stores: stores).switchOff(off, reason: "trouble")
      }
      let found = try await JobHindrance.all(of: "shop", nil, in: stores)
      guard case .switchedOff(.network(app: "shop", .fcm), let remark)? = found.first else {
        Issue.record("\(found)")
        return
      }
      #expect(remark.reason == "trouble")
      #expect(found.count == 4 && found[1] == .noWorker)
      for field in alarms {
        #expect(found.contains(.alarm(field: field, message: "about \(field)")))
      }
    }
  }

  @Test func `a bucket that is off holds the jobs that tell of it`() async throws {
    try await Shards.withStores { _, stores in
      let off = KillSwitch.bucket(app: "shop", "orders")
      _ = try await Switchboard(stores: stores).switchOff(off, reason: "")
      let cases: [(String?, Bool)] = [("orders", true), ("carts", false), (nil, false)]
      for (bucket, isHeld) in cases {
        var record = JobRecord(app: "shop", id: "j", state: .running)
        record.bucket = bucket
        let found = try await JobHindrance.all(of: "shop", record, in: stores)
        let names: [KillSwitch?] = found.map {
          if case .switchedOff(let off, _) = $0 { off } else { nil }
        }
        #expect(names.contains(off) == isHeld, "\(found)")
      }
    }
  }

  @Test func `a job of which no more is left than users who are off may have says so`()
    async throws
  {
    try await Shards.withStores { _, stores in
      for off in [
        KillSwitch.user(app: "shop", "u1"), .user(app: "shop", "u2"), .user(app: "a", "u"),
      ] {
        _ = try await Switchboard(stores: stores).switchOff(off, reason: "")
      }
      let cases: [(JobState, Int, Bool)] = [
        (.running, 1, true), (.running, 200, true), (.running, 201, false), (.running, 0, false),
        (.scheduled, 1, false),
      ]
      for (state, pending, isTold) in cases {
        var record = JobRecord(app: "shop", id: "j", state: state)
        record.pending = pending
        let found = try await JobHindrance.all(of: "shop", record, in: stores)
        #expect(
          found.contains(.usersSwitchedOff(app: "shop", count: 2)) == isTold,
          "\(state), \(pending): \(found)")
      }
    }
  }

  @Test func `a topic that is off, or whose turns are taken, holds the jobs to it`() async throws {
    try await Shards.withStores { _, stores in
      let off = KillSwitch.topic(app: "shop", "news")
      _ = try await Switchboard(stores: stores).switchOff(off, reason: "")
      let field = "topic_loop|shop|news"
      try await stores[0].alarms.raise(field, by: "store", lifeMs: 60_000, message: "a loop")
      for (topic, isHeld) in [("news", true), ("goals", false), (nil, false)] {
        var record = JobRecord(app: "shop", id: "j", state: .scheduled)
        record.topic = topic
        let found = try await JobHindrance.all(of: "shop", record, in: stores)
        let names: [KillSwitch?] = found.map {
          if case .switchedOff(let off, _) = $0 { off } else { nil }
        }
        #expect(names.contains(off) == isHeld, "\(found)")
        #expect(found.contains(.alarm(field: field, message: "a loop")) == isHeld, "\(found)")
      }
    }
  }

  @Test func `an event that waits for its turn says why, and others do not`() async throws {
    try await Shards.withStores { _, stores in
      let field = "loop|shop|orders"
      try await stores[0].alarms.raise(field, by: "store", lifeMs: 60_000, message: "a loop")
      let cases: [(JobState, String?, Bool)] = [
        (.scheduled, "orders", true), (.running, "orders", false), (.scheduled, "carts", false),
        (.scheduled, nil, false),
      ]
      for (state, bucket, isHeld) in cases {
        var record = JobRecord(app: "shop", id: "j", state: state)
        record.bucket = bucket
        let found = try await JobHindrance.all(of: "shop", record, in: stores)
        #expect(found.contains(.alarm(field: field, message: "a loop")) == isHeld, "\(found)")
      }
    }
  }

  @Test func `a job that has not started says when it does`() async throws {
    try await Shards.withStores { _, stores in
      var record = JobRecord(app: "shop", id: "j", state: .scheduled)
      record.startAtMs = 1_796_115_600_000
      let waiting = try await JobHindrance.all(of: "shop", record, in: stores)
      #expect(waiting.contains(.scheduled(1_796_115_600_000)))
      record.state = .running
      let running = try await JobHindrance.all(of: "shop", record, in: stores)
      #expect(!running.contains(.scheduled(1_796_115_600_000)))
    }
  }

  @Test func `a job that is paused says so, whatever else there is`() async throws {
    try await Shards.withStores { _, stores in
      let record = JobRecord(app: "shop", id: "j", state: .paused)
      let whilePaused = try await JobHindrance.all(of: "shop", record, in: stores)
      #expect(whilePaused == [.paused])
    }
  }

  @Test(arguments: [false, true])
  func `a watch tells at once why nobody takes a job, and soon why one stands still`(
    isNamed: Bool
  ) async throws {
    try await Shards.withStores { _, stores in
      let job = try await Self.add(to: stores[1])
      // As it is when it was submitted.
      if isNamed {
        let waiting = WaitingJob(priority: .high, entry: job.entry, text: Self.text)
        #expect(try await stores[1].jobs.waiting.name(waiting) == .new)
      }
      let watch = JobWatch(job: job, stores: stores)
      try await stores[1].alarms.raise(
        "no_worker|shop", by: "w", lifeMs: 60_000, message: "no worker has shop")
      var looks = 0
      var told: [(looks: Int, hindrances: [JobHindrance])] = []
      await #expect(throws: OperationError.stopped) {
        _ = try await watch.follow(Patience { told.count < 4 }) { _ in
          looks += 1
        } onStandstill: {
          told.append((looks, $0))
        }
      }
      let alarm = JobHindrance.alarm(field: "no_worker|shop", message: "no worker has shop")
      #expect(told.first?.looks == 1 && told.first?.hindrances == [alarm])
      // By then a worker that was about to start would beat.
      #expect(told.last?.hindrances == [.noWorker, alarm])
    }
  }

  @Test func `a watch goes on where nobody can say why the job stands still`() async throws {
    try await Shards.withStores { _, stores in
      let watch = JobWatch(job: try await Self.add(to: stores[1]), stores: stores)
      try await Self.run(stores[0], "SET", stores[0].keys.alarms, "x")
      var explanations = 0
      await #expect(throws: OperationError.stopped) {
        _ = try await watch.follow(Patience { explanations < 2 }) { _ in
        } onStandstill: {
          #expect($0 == [])
          explanations += 1
        }
      }
    }
  }

  @Test
  func `an earlier job of the same content is followed to its end, and nothing else asked for`()
    async throws
  {
    try await Shards.withStores { _, stores in
      let job = try await Self.add(to: stores[1])
      let key = stores[1].keys.job(app: "shop", id: "j")
      try await Self.run(
        stores[1], "HSET", key, "source", "h1-1", "admitted", "1", "state", "running")
      try await Self.run(stores[1], "XDEL", stores[1].keys.jobs(.high), job.entry)
      var looks = 0
      let last = try await JobWatch(job: job, stores: stores).follow(Patience()) { sighting in
        guard case .duplicate = sighting else {
          Issue.record("\(sighting)")
          return
        }
        looks += 1
        if looks == 1 {
          stores[1].connection.send(RedisCommand("DEL", stores[1].keys.dead)) { _ in }
          stores[1].connection.send(RedisCommand("SET", stores[1].keys.dead, "x")) { _ in }
        }
        if looks == 2 {
          stores[1].connection.send(RedisCommand("HSET", key, "state", "done")) { _ in }
        }
      }
      #expect(looks == 3 && last.record?.state == .done)
    }
  }

  @Test func `a watch ends with the job's record`() async throws {
    try await Shards.withStores { _, stores in
      let job = try await Self.add(to: stores[1])
      let key = stores[1].keys.job(app: "shop", id: "j")
      var states = ["running", "done"]
      try await Self.run(
        stores[1], "HSET", key, "source", "h\(job.entry)", "admitted", "1", "state", "running")
      try await Self.run(stores[1], "XDEL", stores[1].keys.jobs(.high), job.entry)
      // As a worker would end it between two looks: what is sent here is there before the next one.
      let last = try await JobWatch(job: job, stores: stores).follow(Patience()) { sighting in
        guard case .admitted(let record) = sighting else {
          Issue.record("\(sighting)")
          return
        }
        #expect(record.state.rawValue == states.removeFirst())
        stores[1].connection.send(RedisCommand("HSET", key, "state", "done")) { _ in }
      }
      guard case .admitted(let record) = last else {
        Issue.record("\(last)")
        return
      }
      #expect(record.state == .done && states.isEmpty)
    }
  }

  @Test func `of a cancelled job the last pushes are waited for`() async throws {
    try await Shards.withStores { _, stores in
      let job = try await Self.add(to: stores[1])
      let key = stores[1].keys.job(app: "shop", id: "j")
      let watch = JobWatch(job: job, stores: stores)
      try await Self.run(
        stores[1], "HSET", key, "source", "h\(job.entry)", "admitted", "1", "state", "cancelled",
        "total", "2", "skipped", "1", "pending", "1")
      #expect(try await !watch.look(Patience()).isLast)
      try await Self.run(stores[1], "HSET", key, "accepted", "1", "pending", "0")
      #expect(try await watch.look(Patience()).isLast)
    }
  }

  @Test func `a job that was refused, came before or is gone ends the watch`() async throws {
    try await Shards.withStores { _, stores in
      let job = try await Self.add(to: stores[1])
      let watch = JobWatch(job: job, stores: stores)
      // As an older version refuses it.
      try await Self.run(stores[1], "XDEL", stores[1].keys.jobs(.high), job.entry)
      try await Self.run(
        stores[1], "XADD", stores[1].keys.dead, "*", "kind", "job", "reason", "unknown_app",
        "priority", "high", "job_entry", job.entry, "job",
        String(decoding: Self.text, as: UTF8.self))
      guard case .refused(let refusal) = try await watch.look(Patience()) else {
        Issue.record("it was not refused")
        return
      }
      #expect(refusal.reason == "unknown_app")
      _ = try await stores[1].deadLetters.drop(refusal.letter)
      let gone = try await watch.look(Patience())
      guard case .gone = gone, gone.isLast else {
        Issue.record("\(gone)")
        return
      }
      let key = stores[1].keys.job(app: "shop", id: "j")
      try await Self.run(stores[1], "HSET", key, "source", "h1-0", "state", "running")
      guard case .duplicate = try await watch.look(Patience()) else {
        Issue.record("the record is another admission's")
        return
      }
    }
  }

  @Test func `a job that was cancelled when its entry was gone is told as cancelled`() async throws
  {
    try await Shards.withStores { _, stores in
      let job = try await Self.add(to: stores[1])
      let key = stores[1].keys.job(app: "shop", id: "j")
      // As a submission leaves it.
      try await Self.run(
        stores[1], "HSET", key, "state", "queued", "source", JobSource.of(job.entry, .high))
      try await Self.run(stores[1], "XDEL", stores[1].keys.jobs(.high), job.entry)
      #expect(try await stores[1].jobs.cancel(app: "shop", id: "j") == .cancelled)
      let sighting = try await JobWatch(job: job, stores: stores).look(Patience())
      guard case .admitted(let record) = sighting, sighting.isLast else {
        Issue.record("\(sighting)")
        return
      }
      #expect(record.state == .cancelled)
    }
  }

  @Test func `a refused job is known by its record, also when its letter is gone`() async throws {
    try await Shards.withStores { _, stores in
      let job = try await Self.add(to: stores[1])
      let watch = JobWatch(job: job, stores: stores)
      let entry = try #require(try await stores[1].jobs.take(consumer: "w", max: 1).first)
      let refusal = Refusal(
        reason: "invalid_job", field: "/audience", message: "no", app: "shop", id: "j")
      try await stores[1].jobs.refuse(entry, refusal, consumer: "w")
      let letter = try #require(try await stores[1].deadLetters.list(max: 1).first?.entry)
      #expect(try await stores[1].deadLetters.drop(letter))
      guard case .refused(let told) = try await watch.look(Patience()) else {
        Issue.record("it was not refused")
        return
      }
      let expected = JobRefusal(
        reason: "invalid_job", field: "/audience", message: "no", letter: letter)
      #expect(told == expected)
      // A later one of the id, of which nothing is left, is not that one.
      let later = try await Self.add(to: stores[1])
      try await Self.run(stores[1], "XDEL", stores[1].keys.jobs(.high), later.entry)
      guard case .gone = try await JobWatch(job: later, stores: stores).look(Patience()) else {
        Issue.record("another job's refusal was told")
        return
      }
    }
  }

  @Test func `a watch looks at its own shard, whatever another has of the same entry and text`()
    async throws
  {
    try await Shards.withStores { _, stores in
      let job = try await Self.add(to: stores[1])
      #expect(job.entryText == "eu/\(job.entry)")
      // In the other one an equal job waits, and a letter of it was written.
      try await Self.run(
        stores[0], "XADD", stores[0].keys.jobs(.high), job.entry, "job",
        String(decoding: Self.text, as: UTF8.self))
      try await Self.run(
        stores[0], "XADD", stores[0].keys.dead, job.entry, "kind", "job", "reason", "unknown_app",
        "priority", "high", "job_entry", job.entry, "job",
        String(decoding: Self.text, as: UTF8.self))
      let watch = JobWatch(job: job, stores: stores)
      guard case .waiting = try await watch.look(Patience()) else {
        Issue.record("the job waits")
        return
      }
      try await Self.run(stores[1], "XDEL", stores[1].keys.jobs(.high), job.entry)
      guard case .gone = try await watch.look(Patience()) else {
        Issue.record("the other shard's job or letter was taken for it")
        return
      }
    }
  }

  private static func run(_ store: ShardStore, _ words: String...) async throws(RedisError) {
    var command = RedisCommand()
    for word in words { command.append(word) }
    _ = try await store.connection.call(command)
  }
}

import Model
import Redis
import TestSupport
import Testing

@testable import Store

/// What the functions do when structures are filled to their bounds and beyond: counted in commands and entries, since
/// milliseconds are the machine's.
@Suite struct BoundTests {
  /// Commands that one call of a function may run, which takes some milliseconds.
  private static let commandsMax = 5_000

  /// Commands that Redis has run, those inside of functions included.
  private func commands(_ store: ShardStore) async throws -> Int {
    let information = try await store.redis("INFO", "commandstats").string ?? ""
    return information.split(separator: "calls=").dropFirst().reduce(0) { sum, part in
      sum + (Int(part.prefix { $0.isNumber }) ?? 0)
    }
  }

  /// The most commands that a call of the body ran, of those until it says that it is done.
  private func mostCommands(
    _ store: ShardStore, _ body: () async throws -> Bool
  ) async throws -> Int {
    var most = 0
    for _ in 0..<10_000 {
      let before = try await commands(store)
      let isDone = try await body()
      most = max(most, try await commands(store) - before)
      if isDone { return most }
    }
    Issue.record("it comes to no end")
    return most
  }

  private func fill(_ store: ShardStore, _ script: String, _ arguments: String...) async throws {
    var command = RedisCommand("EVAL", script, "0", store.keys.prefix)
    for argument in arguments { command.append(argument) }
    _ = try await store.connection.call(command, timeoutMs: TestLane.patienceMs)
  }

  /// Gives a job that is paused many chunks, of retried installations, as a long outage leaves them.
  private func park(_ store: ShardStore, _ count: Int) async throws {
    try await store.admit("j1", users: [["a"]])
    _ = try await store.jobs.pause(app: "shop", id: "j1")
    #expect(try await store.chunks.claim(consumer: "w", max: 1) == [])
    let script = """
      local p, count = ARGV[1], tonumber(ARGV[2])
      local job = p .. ':job:shop:j1'
      local source = redis.call('HGET', job, 'source')
      for n = 1, count do
        redis.call('SET', p .. ':segment:r' .. n .. ':' .. source, 'apns\\t\\taa\\ta\\t1\\t1\\n')
        redis.call('HSET', p .. ':unfinished:' .. source, 'r' .. n, '')
        redis.call('RPUSH', p .. ':parked:shop:j1',
          cjson.encode({'normal', 'shop', 'j1', 'r' .. n, source, 'installations', 0}))
      end
      for _, field in ipairs({'chunks', 'residuals', 'total', 'pending'}) do
        redis.call('HINCRBY', job, field, count)
      end
      """
    try await fill(store, script, "\(count)")
  }

  @Test func `20,000 parked chunks are resumed a part at a time, and none is forgotten`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await park(store, 20_000)
      let resumed = try await mostCommands(store) {
        try await store.jobs.resume(app: "shop", id: "j1") == .running
      }
      #expect(resumed < 100, "\(resumed) commands")
      var claimed = 0
      let most = try await mostCommands(store) {
        _ = try await store.chunks.promote(max: 64)
        let claims = try await store.chunks.claim(consumer: "w", max: 100)
        claimed += claims.count
        for claim in claims where claim.segment != "1" {
          var settlement = Settlement()
          settlement.isFinal = true
          settlement.counts = [.apns: counts(accepted: 1)]
          _ = try await store.chunks.settle(claim, settlement, consumer: "w")
        }
        return claimed == 20_001
      }
      #expect(most < Self.commandsMax * 3, "\(most) commands of a promotion and a hundred chunks")
      #expect(
        try await store.redis("EXISTS", store.keys.parked(app: "shop", id: "j1")).integer == 0)
    }
  }

  @Test func `20,000 parked chunks are dropped a part at a time when their job is cancelled`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await park(store, 20_000)
      let cancelled = try await mostCommands(store) {
        try await store.jobs.cancel(app: "shop", id: "j1") == .cancelled
      }
      #expect(cancelled < Self.commandsMax, "\(cancelled) commands")
      #expect(try await store.record("j1").pending > 10_000, "the others wait for promotions")
      let most = try await mostCommands(store) {
        _ = try await store.chunks.promote(max: 64)
        return try await store.record("j1").finishedAtMs != nil
      }
      #expect(most < Self.commandsMax, "\(most) commands")
      let record = try await store.record("j1")
      #expect(record.counts.skipped == 20_001 && record.isBalanced && record.state == .cancelled)
      let left = try await store.allKeys().filter {
        $0.contains(":segment:") || $0.contains(":unfinished:") || $0.contains(":parked:")
      }
      #expect(left == [])
    }
  }

  @Test func `20,000 cancelled jobs that wait for a worker are looked past a part at a time`()
    async throws
  {
    try await Lane.withStore { _, store in
      let script = """
        local p = ARGV[1]
        for n = 1, 20000 do
          redis.call('HSET', p .. ':job:news:j' .. n, 'source', 'n1-' .. n, 'state', 'cancelled')
          redis.call('ZADD', p .. ':unrouted:jobs:news', 1e13 + n % 7,
            cjson.encode({'job', 'normal', '1-' .. n, 1, 'j' .. n, '0'}))
        end
        redis.call('ZADD', p .. ':unrouted', 1, 'news')
        """
      try await fill(store, script)
      let shop = RouteTable(fields: [("shop", "apns|production")])
      var calls = 0
      let most = try await mostCommands(store) {
        calls += 1
        _ = try await store.redis("DEL", store.keys.routeSweep)
        _ = try await store.routes.announce(shop, waitMs: 600_000)
        return try await store.alarms.current(nowMs: 0).isEmpty
      }
      #expect(most < Self.commandsMax / 5, "\(most) commands")
      #expect((20_000 / 256...20_000 / 200).contains(calls), "\(calls) looks")
      #expect(try await store.redis("ZCARD", "{pp}:unrouted:jobs:news").integer == 20_000)
    }
  }

  @Test func `what was to bring parked chunks back is put there again by a reconciliation`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await park(store, 1_500)
      _ = try await store.jobs.cancel(app: "shop", id: "j1")
      _ = try await store.redis("DEL", store.keys.delayed)
      // Each brings a few, so that none holds Redis up.
      for _ in 0..<100 {
        _ = try await store.jobs.reconcile(app: "shop", id: "j1")
        _ = try await store.chunks.promote(max: 64)
      }
      let record = try await store.record("j1")
      #expect(record.counts.skipped == 1_501 && record.finishedAtMs != nil)
    }
  }

  /// Gives the job so many residuals in the delayed set.
  private func delay(_ store: ShardStore, _ count: Int, issued: Int) async throws {
    try await store.admit("j1", users: [["a"]])
    let script = """
      local p, count = ARGV[1], tonumber(ARGV[2])
      local job = p .. ':job:shop:j1'
      local source = redis.call('HGET', job, 'source')
      for n = 1, count do
        redis.call('SET', p .. ':segment:r' .. n .. ':' .. source, 'apns\\t\\taa\\ta\\t1\\t1\\n')
        redis.call('HSET', p .. ':unfinished:' .. source, 'r' .. n, '')
        redis.call('ZADD', p .. ':delayed', 4e12,
          cjson.encode({'normal', 'shop', 'j1', 'r' .. n, source, 'installations', 0}))
      end
      for _, field in ipairs({'chunks', 'total', 'pending'}) do
        redis.call('HINCRBY', job, field, count)
      end
      redis.call('HSET', job, 'residuals', ARGV[3])
      """
    try await fill(store, script, "\(count)", "\(issued)")
  }

  @Test func `a job of 25,000 chunks is reconciled a part at a time, and found sound`() async throws
  {
    try await Lane.withStore { _, store in
      try await delay(store, 25_000, issued: 5_000_000)
      let functions = StoreFunctions(connection: store.connection, keys: store.keys)
      var cursor = "0"
      let most = try await mostCommands(store) {
        let command = functions.call("reconcile", "shop", "j1", cursor)
        let reply = try await functions.run(command) { RESPValue($0) }
        #expect(reply.array?.first?.string == "OK")
        cursor = reply.array?.last?.string ?? "?"
        return cursor.isEmpty
      }
      #expect(most < 1_000, "\(most) commands")
      #expect(try await store.jobs.reconcile(app: "shop", id: "j1") == .sound)
    }
  }

  @Test
  func `a reconciliation after a mismatch looks for what lives, not for what was ever issued`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await delay(store, 400, issued: 5_000_000)
      _ = try await store.redis("DEL", store.keys.delayed)
      _ = try await store.redis("HINCRBY", store.keys.job(app: "shop", id: "j1"), "chunks", "7")
      let functions = StoreFunctions(connection: store.connection, keys: store.keys)
      var cursor = "0"
      let most = try await mostCommands(store) {
        let command = functions.call("reconcile", "shop", "j1", cursor)
        let reply = try await functions.run(command) { RESPValue($0) }
        cursor = reply.array?.last?.string ?? "?"
        return cursor.isEmpty
      }
      #expect(most < Self.commandsMax, "\(most) commands")
      // A last one puts right what the first ones had no time for.
      #expect(try await store.jobs.reconcile(app: "shop", id: "j1") == .sound)
      let status = try await store.backlog.status()
      #expect(status.chunks[.normal] == 401 && status.delayed == 0)
    }
  }

  @Test func `what is unfinished and an older version did not note takes no chunk from its job`()
    async throws
  {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: [["a"], ["b"]])
      let source = try #require(
        try await store.redis("HGET", store.keys.job(app: "shop", id: "j1"), "source").string)
      // As when one chunk had ended and another had come, neither of which it was told of.
      _ = try await store.redis("HDEL", store.keys.unfinished(source), "1")
      _ = try await store.redis("HSET", store.keys.unfinished(source), "r7", "")
      for _ in 0..<3 { #expect(try await store.jobs.reconcile(app: "shop", id: "j1") == .sound) }
      let unfinished = try await store.redis("HKEYS", store.keys.unfinished(source)).array ?? []
      #expect(Set(unfinished.compactMap(\.string)) == ["1", "2"])
      #expect(
        try await store.redis("HGET", store.keys.job(app: "shop", id: "j1"), "chunks").integer == 2)
    }
  }

  @Test func `the chunks of a job that an older version began are counted anew`() async throws {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: [["a"], ["b"], ["c"]])
      let claim = try await store.claimOne()
      _ = try await store.chunks.handBack([claim], consumer: "worker", delayMs: 60_000)
      let source = try await store.redis(
        "HGET", store.keys.job(app: "shop", id: "j1"), "source"
      ).string
      _ = try await store.redis("DEL", store.keys.unfinished(try #require(source)))
      #expect(try await store.jobs.reconcile(app: "shop", id: "j1") == .sound)
      #expect(
        try await store.redis("HLEN", store.keys.unfinished(source ?? "")).integer == 3)
      _ = try await store.redis("DEL", store.keys.unfinished(source ?? ""))
      _ = try await store.redis("DEL", store.keys.chunks(.normal))
      #expect(try await store.jobs.reconcile(app: "shop", id: "j1") == .repaired)
      #expect(try await store.backlog.status().chunks[.normal] == 2)
    }
  }

  @Test
  func
    `large dead letters are listed, shown, retried and dropped without their originals being copied`()
    async throws
  {
    try await Lane.withStore { _, store in
      let text = #"{"ballast":""# + String(repeating: "x", count: 1 << 20) + #""}"#
      for _ in 0..<3 {
        _ = try await store.jobs.enqueue(Array(text.utf8), priority: .high)
        let entry = try #require(try await store.jobs.take(consumer: "w", max: 1).first)
        _ = try await store.jobs.refuse(
          entry, Refusal(reason: "invalid_job", message: "no"), consumer: "w")
      }
      let size = try await store.redis("MEMORY", "USAGE", store.keys.dead).integer ?? .max
      #expect(size < 10_000, "the stream holds \(size) bytes")
      let letters = try await store.deadLetters.list(max: 10)
      #expect(letters.count == 3 && letters.allSatisfy { $0.original ?? "" == "" })
      #expect(try await store.deadLetters.show(letters[0].entry)?.original == text)
      _ = try await store.deadLetters.retry(letters[0].entry)
      #expect(try await store.jobs.take(consumer: "w", max: 1).map(\.text) == [Array(text.utf8)])
      #expect(try await store.deadLetters.drop(letters[1].entry))
      #expect(try await store.deadLetters.drop(letters[2].entry))
      #expect(try await store.allKeys().filter { $0.contains(":letter:") } == [])
    }
  }

  @Test func `letters of an older version, with their originals in them, are read one at a time`()
    async throws
  {
    try await Lane.withStore { _, store in
      let script = """
        for n = 1, 40 do
          redis.call('XADD', ARGV[1] .. ':dead', '*', 'kind', 'job', 'reason', 'r' .. n, 'priority', 'low',
            'job', string.rep('x', n % 2 * 600000 + 10))
        end
        """
      try await fill(store, script)
      let functions = StoreFunctions(connection: store.connection, keys: store.keys)
      let page = try await functions.run(functions.call("dead_list", "-", "100")) { RESPValue($0) }
      #expect((page.array?.count ?? 0) <= 3, "bounded by what it looks at")
      let letters = try await store.deadLetters.list(max: 100)
      #expect(letters.map(\.reason) == (1...40).map { "r\($0)" })
      #expect(try await store.deadLetters.list(after: letters[9].entry, max: 5).count == 5)
      let shown = try await store.deadLetters.show(letters[0].entry)
      #expect(shown?.original?.count == 600_010)
    }
  }

  @Test func `entries that are large beside their job are looked at one by one`() async throws {
    try await Lane.withStore { _, store in
      let script = """
        for n = 1, 200 do
          redis.call('XADD', ARGV[1] .. ':jobs:normal', '*', 'note', string.rep('x', 500000),
            'job', '{"id":"' .. n .. '","app":"a' .. n .. '"}')
        end
        """
      try await fill(store, script)
      // Of 256 that a lane may look at, as many as have 1 MiB.
      let before = try await store.redis("INFO", "commandstats").string ?? ""
      _ = try await store.jobs.take(consumer: "w", max: 1)
      let after = try await store.redis("INFO", "commandstats").string ?? ""
      func ranges(_ text: String) -> Int {
        guard let part = text.split(separator: "cmdstat_xrange:calls=").dropFirst().first else {
          return 0
        }
        return Int(part.prefix { $0.isNumber }) ?? 0
      }
      #expect(ranges(after) - ranges(before) <= 3)
    }
  }

  @Test func `a hash of alarms that something else has filled is not read`() async throws {
    try await Lane.withStore { _, store in
      let script = """
        for n = 1, 5000 do redis.call('HSET', ARGV[1] .. ':alarms', 'field' .. n, 'x') end
        """
      try await fill(store, script)
      let most = try await mostCommands(store) {
        try await store.alarms.raise("k|shop", by: "w", lifeMs: 1_000, message: "m")
        return true
      }
      #expect(most < 20)
    }
  }

  @Test func `a settlement counts its dead tokens together, not one by one`() async throws {
    try await Lane.withStore { _, store in
      try await store.admit("j1", users: [["a"]])
      let claim = try await store.claimOne()
      var settlement = Settlement()
      settlement.isFinal = true
      settlement.invalidations = (0..<200).map {
        Settlement.Invalidation(
          network: .apns, environment: .production, token: "t\($0)", user: "a", generation: 1,
          sinceMs: nil, reason: "BadDeviceToken")
      }
      settlement.resolveUser(installations: 200)
      let most = try await mostCommands(store) {
        _ = try await store.chunks.settle(claim, settlement, consumer: "worker")
        return true
      }
      #expect(try await store.record("j1").counts.rejected == 200)
      #expect(most < 300, "\(most) commands for 200 tokens that are nobody's by now")
    }
  }
}

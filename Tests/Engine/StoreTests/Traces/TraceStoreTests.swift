import Model
import Redis
import Testing

@testable import Store

@Suite struct TraceStoreTests {
  private static let token = "a1b2"

  private static func line(_ change: (inout TraceLine) -> Void = { _ in }) -> [UInt8] {
    var bytes: [UInt8] = []
    var token = Self.token
    token.withUTF8 { token in
      var line = TraceLine(atMs: 1_790_000_000_123, kind: .answered)
      line.network = .apns
      line.environment = .development
      line.token = UnsafeRawBufferPointer(token)
      line.user = UnsafeRawBufferPointer(token)
      line.attempt = 2
      line.status = 503
      line.reason = "ServiceUnavailable"
      line.elapsedMs = 0
      line.decision = .retry
      line.delayMs = 750
      change(&line)
      line.append(to: &bytes)
    }
    return bytes
  }

  private static func read(_ bytes: [UInt8]) -> TraceEvent? {
    bytes.dropLast().withUnsafeBytes { TraceEvent($0, by: "w-0") }
  }

  @Test func `an event is read as it was written`() throws {
    let event = try #require(Self.read(Self.line()))
    var expected = TraceEvent(atMs: 1_790_000_000_123, kind: .answered)
    expected.by = "w-0"
    expected.network = .apns
    expected.environment = .development
    expected.token = Self.token
    expected.user = Self.token
    expected.attempt = 2
    expected.status = 503
    expected.reason = "ServiceUnavailable"
    expected.elapsedMs = 0
    expected.decision = .retry
    expected.delayMs = 750
    #expect(event == expected)
    let omitted = Self.read(
      Self.line {
        $0 = TraceLine(atMs: 5, kind: .omitted)
        $0.cause = .tooMany
        $0.count = 70
      })
    #expect(omitted?.count == 70)
    #expect(omitted?.cause == .tooMany)
    #expect(omitted?.network == nil)
    #expect(omitted?.elapsedMs == nil)
  }

  @Test func `a network's reason cannot break a line, nor be long`() throws {
    let event = try #require(
      Self.read(Self.line { $0.reason = "a\tb\nc\u{1B}é" + String(repeating: "x", count: 5_000) }))
    #expect(event.reason.hasPrefix("a?b?c???xxx"))
    #expect(event.reason.utf8.count == StoreLimits.traceReasonBytesMax)
    #expect(event.decision == .retry)
    #expect(Self.read(Array("1\tanswered\tapns\n".utf8)) == nil)
  }

  @Test func `a trace is read back in pages, counts what was before, and expires in two days`()
    async throws
  {
    try await Lane.withStore { _, store in
      for number in 1...5 {
        try await store.append(Self.line { $0.attempt = number } + Array("damaged\n".utf8), 1)
      }
      let first = try await store.traces.page(app: "shop", job: "j", max: 3)
      #expect(first.map(\.eventsBefore) == [0, 1, 2])
      #expect(first.map(\.unreadable) == [1, 1, 1])
      let rest = try await store.traces.page(app: "shop", job: "j", after: first.last?.entry)
      #expect((first + rest).flatMap(\.events).map(\.attempt) == [1, 2, 3, 4, 5])
      #expect(rest.last?.events.first?.by == "w-0")
      #expect(try await store.traces.page(app: "shop", job: "other").isEmpty)
      let key = store.keys.trace(app: "shop", job: "j")
      let ttl = try #require(try await store.redis("TTL", key).integer)
      #expect((172_000...172_800).contains(ttl))
    }
  }

  @Test(arguments: [500, 4_000, 60_000])
  func `a job's trace keeps its newest events within its bytes, and says how many are gone`(
    bytes: Int
  ) async throws {
    try await Lane.withStore { _, store in
      let count = bytes / Self.line().count
      let lines = Array(Array(repeating: Self.line(), count: count).joined())
      let batches = 12 * 1024 * 1024 / bytes
      for number in 0..<batches {
        store.traces.append(
          app: "shop", job: "j", by: "w-0", lines: lines + Self.line { $0.attempt = number + 1 },
          count: count + 1
        ) { _ in }
        if number % 500 == 499 { _ = try await store.redis("PING") }
      }
      let key = store.keys.trace(app: "shop", job: "j")
      let used = try #require(
        try await store.redis("MEMORY", "USAGE", key, "SAMPLES", "0").integer)
      #expect(used < 12 * 1024 * 1024)
      #expect(used > 7 * 1024 * 1024)
      var read = try #require(try await store.traces.page(app: "shop", job: "j", max: 1).first)
      let length = try #require(try await store.redis("XLEN", key).integer)
      #expect(read.eventsBefore == (batches - length) * (count + 1))
      let last = try await store.redis("XREVRANGE", key, "+", "-", "COUNT", "1").array?.first?.array
      read = TraceEntry(entry: "", fields: last?[1].pairs ?? [])
      #expect(read.events.last?.attempt == batches)
    }
  }
}

extension ShardStore {
  fileprivate func append(_ lines: [UInt8], _ count: Int) async throws(RedisError) {
    try await withUnsafeContinuation { continuation in
      traces.append(app: "shop", job: "j", by: "w-0", lines: lines, count: count) {
        continuation.resume(returning: $0)
      }
    }.get()
  }
}

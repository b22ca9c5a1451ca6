import LocalServices
import Reactor
import Redis
import TestSupport
import Testing

@testable import CommandLineInterface

/// `pushpool import` while Redis refuses, or connections are lost.
@Suite struct ImportOutageTests {
  @Test("what Redis refused for a while is imported by --resume, and no line is passed over")
  func refusedForAWhile() async throws {
    try await TestLane.withRedis { lane, redis in
      let connection = try await lane.connect(redis.endpoint)
      let folder = try TemporaryFolder()
      let lines = 6_000
      let path = try ImportFile.write((0..<lines).map { ImportFile.line($0) }, in: folder)
      // The functions are loaded while there is room.
      let other = try ImportFile.write([ImportFile.line(9_999, user: "v")], to: "v", in: folder)
      #expect(try await Pushpool.run("import", other, "--redis", redis.url).status == 0)
      _ = try await connection.call(RedisCommand("CONFIG", "SET", "maxmemory", "1"))
      let child = try Pushpool.start(["import", path, "--redis", redis.url])
      // All batches in flight were refused as often as they are tried.
      while child.exit == nil {
        let errors = try await connection.call(RedisCommand("INFO", "errorstats")).string ?? ""
        let refused = errors.split(separator: "\r\n").first { $0.hasPrefix("errorstat_OOM:count=") }
        if let count = refused?.split(separator: "=").last.flatMap({ Int($0) }),
          count >= CommandLineLimits.importBatchesInFlight * CommandLineLimits.redisAttemptsMax
        {
          break
        }
        await lane.loop.sleep(ms: 5)
      }
      _ = try await connection.call(RedisCommand("CONFIG", "SET", "maxmemory", "0"))
      let stopped = try await Pushpool.finish(child)
      #expect(stopped.status == 69)
      #expect(stopped.error.contains("go on with --resume"))
      let resumed = try await Pushpool.run("import", path, "--resume", "--redis", redis.url)
      #expect(resumed.status == 0, "\(resumed.error)")
      let users = RedisCommand(
        "EVAL", "return #redis.call('KEYS', ARGV[1])", "0", "pushpool:user:shop:u*")
      #expect(try await connection.call(users).integer == lines)
    }
  }

  @Test("a token of several lines is the last line's user's, however often connections are lost")
  func order() async throws {
    try await TestLane.withRedis { lane, redis in
      let connection = try await lane.connect(redis.endpoint)
      let folder = try TemporaryFolder()
      // Each token stands in two batches that follow each other.
      let (lines, batch) = (30_000, 500)
      func token(_ line: Int) -> Int { line / (2 * batch) * batch + line % batch }
      let path = try ImportFile.write(
        (0..<lines).map { ImportFile.line(token($0), user: "u\($0)") }, in: folder)
      let proxy = try FaultProxy(
        server: .unix(path: redis.socketPath), seed: .random(in: 0..<1_000_000))
      for fault in [
        FaultProxy.Fault.resetMidRequest(afterReads: 20...80), .dropReply(afterReads: 8...24),
      ] {
        await proxy.set(fault)
        let url = "redis://127.0.0.1:\(proxy.port)"
        let result = try await Pushpool.run("import", path, "--redis", url)
        #expect(result.status == 0, "\(result.error)")
        var wrong = 0
        for line in 0..<lines where line / batch % 2 == 1 {
          let key = "pushpool:token:apns:shop:\(ImportFile.token(token(line)))"
          let user = try await connection.call(RedisCommand("HGET", key, "user")).string
          if user != "u\(line)" { wrong += 1 }
        }
        #expect(wrong == 0, "\(fault)")
        _ = try await connection.call(RedisCommand("FLUSHALL"))
      }
      #expect(await proxy.breaks > 4)
      await proxy.close()
    }
  }
}

import LocalServices
import Reactor
import TestSupport
import Testing

@testable import Redis

@Suite struct FunctionLibraryTests {
  private static func library(_ version: String, answer: Int) -> FunctionLibrary {
    FunctionLibrary(
      name: "lib", version: version,
      template: """
        #!lua name=lib_@VERSION@
        redis.register_function('answer_@VERSION@', function() return \(answer) end)
        """)
  }

  private static func number(_ reply: RedisReply) throws(RedisError) -> Int { reply.integer ?? -1 }

  @Test func `old and new versions are served side by side`() async throws {
    try await TestLane.withRedis { lane, server in
      let old = try await lane.connect(server.endpoint, library: Self.library("a1", answer: 1))
      let new = try await lane.connect(server.endpoint, library: Self.library("b2", answer: 2))
      let again = try await lane.connect(server.endpoint, library: Self.library("b2", answer: 2))
      #expect(
        try await old.callFunction(RedisCommand("FCALL", "answer_a1", "0"), decode: Self.number)
          == 1)
      #expect(
        try await new.callFunction(RedisCommand("FCALL", "answer_b2", "0"), decode: Self.number)
          == 2)
      #expect(
        try await again.callFunction(RedisCommand("FCALL", "answer_b2", "0"), decode: Self.number)
          == 2)
      for connection in [old, new, again] { connection.close() }
    }
  }

  @Test func `flushed functions are loaded again by the call that misses them`() async throws {
    try await TestLane.withRedis { lane, server in
      let connection = try await lane.connect(
        server.endpoint, library: Self.library("a1", answer: 1))
      _ = try await connection.call(RedisCommand("FUNCTION", "FLUSH"))
      let command = RedisCommand("FCALL", "answer_a1", "0")
      #expect(try await connection.callFunction(command, decode: Self.number) == 1)
      connection.close()
    }
  }

  /// Of a pipeline the first call misses its function, and somebody loads it before the last is carried out.
  @Test
  func `the answers to several calls come when all are there, also those of calls made again`()
    async throws
  {
    try await TestLane.withRedis { lane, server in
      let connection = try await lane.connect(
        server.endpoint, library: Self.library("a1", answer: 1))
      let load = RedisCommand("FUNCTION", "LOAD", Self.library("a1", answer: 1).source)
      let command = RedisCommand("FCALL", "answer_a1", "0")
      _ = try await connection.call(RedisCommand("FUNCTION", "FLUSH"))
      let answers = await connection.callFunctions(
        [command, load, command, RedisCommand("FCALL", "nothing", "0"), command],
        decode: Self.number)
      #expect(answers.map { try? $0.get() } == [1, -1, 1, nil, 1])
      connection.close()
    }
  }

  @Test func `calls that miss their functions together load them once`() async throws {
    try await TestLane.withRedis { lane, server in
      let connection = try await lane.connect(
        server.endpoint, library: Self.library("a1", answer: 1))
      _ = try await connection.call(RedisCommand("FUNCTION", "FLUSH"))
      _ = try await connection.call(RedisCommand("CONFIG", "RESETSTAT"))
      let command = RedisCommand("FCALL", "answer_a1", "0")
      for _ in 1...2 {
        let answers = await connection.callFunctions(
          Array(repeating: command, count: 50), decode: Self.number)
        #expect(answers.allSatisfy { (try? $0.get()) == 1 })
      }
      let stats = try await connection.call(RedisCommand("INFO", "commandstats")).string
      #expect(stats?.contains("cmdstat_function|load:calls=1,") == true)
      connection.close()
    }
  }

  @Test func `a function that the library lacks is an error, not a loop`() async throws {
    try await TestLane.withRedis { lane, server in
      let connection = try await lane.connect(
        server.endpoint, library: Self.library("a1", answer: 1))
      let error = await failure {
        _ = try await connection.callFunction(
          RedisCommand("FCALL", "nothing", "0"), decode: Self.number)
      }
      #expect(error?.isFunctionMissing == true)
      connection.close()
    }
  }
}

import LocalServices
import Model
import Testing

@Suite struct IndexTests {
  @Test("index mends a device whose record is gone, says so, and the status has the alarm")
  func mends() async throws {
    try await RedisServer.with { redis in
      let at = ["PUSHPOOL_REDIS_URL": redis.url]
      let token = String(repeating: "ab", count: 32)
      let device = ["--app", "shop", "--network", "apns", "--token", token]
      func run(_ words: [String]) async throws -> Pushpool.Result {
        try await Pushpool.finish(try Pushpool.start(words, environment: at))
      }
      #expect(try await run(["install", "--user", "u1"] + device).status == 0)
      let clean = try await run(["index", "--app", "shop"])
      #expect(clean.status == 0 && !clean.output.contains("half there"), "\(clean)")
      let deleting = try ChildProcess(
        "redis-cli", ["-s", redis.socketPath, "DEL", "pushpool:token:apns:shop:\(token)"],
        output: .discard)
      #expect(await deleting.waitForExit(timeoutMs: Pushpool.timeoutMs) == .code(0))
      let mended = try await run(["index", "--app", "shop"])
      #expect(mended.output.contains("shop: 1 bindings were half there and were mended"))
      let again = try await run(["index", "--app", "shop", "--json"])
      let counts = try again.json.first?["mended"]?.objectValue
      #expect(counts?["records"]?.int64Value == 0)
      #expect(try await run(["status"]).output.contains("half_binding|shop"))
      #expect(try await run(["uninstall"] + device).output.contains("removed"))
    }
  }
}

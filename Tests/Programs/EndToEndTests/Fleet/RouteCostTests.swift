import Foundation
import LocalServices
import Model
import Simulator
import Testing

/// What the routes cost a fleet whose workers all have the same ones.
@Suite struct RouteCostTests {
  /// EXPIRE, ZREMRANGEBYSCORE, ZADD, ZREVRANGE, and EXISTS three times, or four times once a new fleet has gathered.
  private static let commandsOfAnnouncement = 8
  private static let workers = 2

  @Test("where all workers have the same routes, a campaign costs Redis no command for them")
  func costsNothing() async throws {
    // Over two seconds, so that workers announce their routes meanwhile, which they do each second.
    try await PushStage.with(script: .stage { $0.delayMs = 60 }, worker: .narrow(50)) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<4_000))
      let lines = try await stage.withWorkers(Self.workers) { _ in
        try await stage.waitUntilBeating(Self.workers)
        return try await monitored(stage) {
          _ = try await client.enqueue(Devices.job("sale", 0..<4_000))
          stage.expectDelivered(try await client.finished("sale"), 4_000)
        }
      }
      var calls: [String: Int] = [:]
      var function = ""
      var ofAnnouncements = 0
      var stray: Set<String> = []
      for line in lines {
        if !line.isOfFunction {
          function = line.function ?? ""
          calls[function, default: 0] += 1
        }
        guard line.isOfRoutes else { continue }
        if line.isOfFunction && function == "announce_routes" {
          ofAnnouncements += 1
        } else if !(line.isOfFunction && function == "publish_routes") {
          stray.insert("\(line.text.prefix(200)), of \(function)")
        }
      }
      #expect(stray.isEmpty)
      for name in ["pass_on_job", "pass_on_chunk", "take_routed", "take_waiting", "claim_routed"] {
        #expect(calls[name] == nil, "\(name)")
      }
      // A worker that beats may still be about to say what it has: once.
      #expect(calls["publish_routes"] ?? 0 <= Self.workers)
      #expect(try #require(calls["claim"]) > 0 && calls["settle"] ?? 0 > 40)
      let announcements = try #require(calls["announce_routes"])
      let seconds = try #require(lines.last?.at) - (try #require(lines.first?.at))
      print("\(lines.count) commands in \(seconds) s, \(announcements) announcements of routes")
      #expect(announcements <= Self.workers * (Int(seconds) + 2))
      #expect(ofAnnouncements > 0)
      #expect(ofAnnouncements <= announcements * Self.commandsOfAnnouncement)
    }
  }

  /// The commands that Redis runs meanwhile, those inside of functions after the call of the function.
  private func monitored(_ stage: PushStage, _ body: () async throws -> Void) async throws -> [Line]
  {
    let file = stage.folder.file("monitor.log")
    let monitor = try ChildProcess(
      "redis-cli", ["-s", stage.redis.socketPath, "MONITOR"], output: .file(file), error: .discard)
    // What is told to the monitor comes in order.
    func waitFor(_ mark: String) async throws -> [Line] {
      try await eventually("the monitor tells \(mark)") {
        _ = try await stage.client.command("ECHO", mark)
        let text = String(decoding: try Data(contentsOf: URL(filePath: file)), as: UTF8.self)
        let lines = text.split(separator: "\n").map { Line(text: $0) }
        return lines.contains { $0.text.contains(mark) } ? lines : nil
      }
    }
    do {
      _ = try await waitFor("monitor-begins")
      try await body()
      let lines = try await waitFor("monitor-ends")
      await monitor.kill()
      return lines.filter { $0.at != nil }
    } catch {
      await monitor.kill()
      throw error
    }
  }

  /// `1700000000.123456 [0 127.0.0.1:4711] "FCALL" "pushpool_claim_0123" "1" "pushpool"…`, or with `lua` for the client.
  private struct Line {
    let text: Substring

    var at: Double? { Double(text.prefix { $0 != " " }) }
    var isOfFunction: Bool { text.prefix(64).contains(" lua] ") }
    /// The function that is called.
    var function: String? {
      let words = text.split(separator: "\"", maxSplits: 4)
      guard words.count > 3, words[1] == "FCALL" else { return nil }
      return words[3].split(separator: "_").dropFirst().dropLast().joined(separator: "_")
    }
    var isOfRoutes: Bool {
      ["\"pushpool:routes", "\"pushpool:routed", "\"pushpool:unrouted"].contains {
        text.contains($0)
      }
    }
  }
}

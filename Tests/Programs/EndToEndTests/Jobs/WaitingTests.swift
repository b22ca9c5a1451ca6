import Foundation
import LocalServices
import Model
import Simulator
import Testing

/// What `pushpool enqueue --wait` tells, and ends with.
@Suite struct WaitingTests {
  private func file(_ stage: PushStage, _ job: String) throws -> String {
    let path = stage.folder.file("job.json")
    try job.write(toFile: path, atomically: true, encoding: .utf8)
    return path
  }

  @Test("who waits is told what nobody does, waits for an earlier job too, and learns of its end")
  func cancelled() async throws {
    try await PushStage.with { stage in
      let job = try file(stage, Devices.job("sale", 0..<3))
      var waiters: [ChildProcess] = []
      // The second is the first once more.
      for first in ["is enqueued", "with the same content came before"] {
        let waiter = try stage.start("enqueue", job, "--wait")
        for text in [first, "no worker is running"] {
          let told = await waiter.standardError?.nextLine(containing: text, timeoutMs: 60_000)
          #expect(told != nil)
        }
        waiters.append(waiter)
      }
      #expect(try await stage.pushpool("job", "sale", "pause", "--app", "shop").exit == .code(0))
      let told = await waiters[0].standardError?.nextLine(
        containing: "the job is paused", timeoutMs: 60_000)
      #expect(told != nil)
      #expect(try await stage.pushpool("job", "sale", "cancel", "--app", "shop").exit == .code(0))
      #expect(try await stage.client.length("jobs:normal") == 1)
      try await stage.withWorkers { _ in
        for waiter in waiters {
          let (exit, _, error) = await stage.end(of: waiter)
          #expect(exit == .code(1), "\(error)")
          #expect(error.contains("the job was cancelled"))
        }
      }
      #expect(stage.simulator.counters.requests == 0)
    }
  }

  @Test("a network that refuses the credential is named, and so are pushes that were not sent")
  func refused() async throws {
    let script = SimulatorScript.stage {
      $0.all = ScriptRule(network: .apns, status: 403, reason: "InvalidProviderToken")
    }
    try await PushStage.with(script: script) { stage in
      try await stage.client.install(try Devices.apns(0..<3))
      let job = try file(stage, Devices.job("sale", 0..<3, #", "ttl_seconds": 8"#))
      try await stage.withWorkers { _ in
        let waited = try await stage.pushpool("enqueue", job, "--wait")
        #expect(waited.exit == .code(1), "\(waited.error)")
        #expect(waited.error.contains("credential"))
        #expect(waited.error.contains("not all of it was sent: 3 expired"))
      }
    }
  }

  @Test(
    "pushes that were skipped are told of, with the way to learn why; if all were, nothing was sent"
  )
  func skipped() async throws {
    try await PushStage.with(endpoints: PushStage.Endpoints(hasFCM: false)) { stage in
      try await stage.client.install(try Devices.fcm(0..<3) + [try Devices.apns(3)])
      try await stage.withWorkers { _ in
        let partly = try file(stage, Devices.job("partly", 0..<4))
        #expect(try await stage.pushpool("enqueue", partly, "--wait").exit == .code(0))
        let job = try file(stage, Devices.job("sale", 0..<3))
        let waited = try await stage.pushpool("enqueue", job, "--wait")
        #expect(waited.exit == .code(1), "\(waited.error)")
        #expect(waited.error.contains("nothing was sent: 3 skipped"))
        #expect(waited.output.contains("pushpool trace --job sale --app shop"))
        // The report that nobody reads changes nothing of it.
        let unread = try ChildProcess(
          "/bin/bash",
          ["-c", #""$0" "$@" | true; exit ${PIPESTATUS[0]}"#]
            + [
              PushStage.programFolder + "/pushpool", "enqueue", job, "--wait", "--redis",
              stage.redis.url,
            ],
          folder: "/", output: .discard, error: .discard)
        #expect(await unread.waitForExit(timeoutMs: 60_000) == .code(1))
        let traced = try await stage.pushpool(
          "trace", "--job", "sale", "--app", "shop", "--user", "u0")
        #expect(traced.output.contains("no credentials"), "\(traced.output)")
      }
    }
  }
}

import Foundation
import LocalServices
import Model
import PushpoolConfiguration
import Redis
import Simulator
import Testing

/// Row 9 of the fault matrix: the corpus of BadJobs, each refused with its own clear reason.
@Suite struct BadInputTests {
  struct BadJob: Sendable, CustomTestStringConvertible {
    let name: String
    /// What the refused field's pointer begins with.
    let field: String
    /// What the sentence holds.
    let phrase: String
    let bytes: [UInt8]

    var testDescription: String { name }
  }

  /// expected.tsv names each file, the field at fault, and words of the sentence.
  static let corpus: [BadJob] = {
    guard let folder = Bundle.module.path(forResource: "BadJobs", ofType: nil),
      let table = try? String(contentsOfFile: folder + "/expected.tsv", encoding: .utf8)
    else { return [] }
    return table.split(separator: "\n").compactMap { line in
      let cells = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      guard let bytes = FileManager.default.contents(atPath: "\(folder)/\(cells[0]).json") else {
        return nil
      }
      return BadJob(name: cells[0], field: cells[1], phrase: cells[2], bytes: Array(bytes))
    }
  }()

  @Test("the corpus is all there")
  func isComplete() throws {
    let folder = try #require(Bundle.module.path(forResource: "BadJobs", ofType: nil))
    let files = try FileManager.default.contentsOfDirectory(atPath: folder)
    #expect(files.count == Self.corpus.count + 1)
    #expect(Self.corpus.count >= 40)
  }

  @Test(
    "each bad job becomes a dead letter with its own reason, and the good one beside them is delivered"
  )
  func refusesCorpus() async throws {
    let worker = WorkerConfiguration(lanes: 1, drainSeconds: 5, unroutedSeconds: 1)
    try await PushStage.with(worker: worker) { stage in
      let client = stage.client
      try await client.install(try Devices.apns(0..<1))
      try await client.install([try Devices.apns(1, user: "victim")])
      for (index, job) in Self.corpus.enumerated() {
        _ = try await client.enqueue(bytes: job.bytes)
        if index == Self.corpus.count / 2 {
          _ = try await client.enqueue(Devices.job("good", 0..<1))
        }
      }
      // 64 MB, which no producer of ours could even send.
      _ = try await client.command(
        "EVAL", "return redis.call('XADD', KEYS[1], '*', 'job', string.rep('x', 67108864))", "1",
        "pushpool:jobs:normal")
      try await stage.withWorkers { _ in
        stage.expectDelivered(try await client.finished("good"), 1)
        _ = try await eventually("all bad jobs are dead letters") {
          try await client.length("dead") == Self.corpus.count + 1 ? true : nil
        }
      }
      let letters = try await client.entries("dead")
      let large = letters.filter { $0["reason"] == "too_large" }
      #expect(large.count == 1)
      #expect((large.first?["job"] ?? "").utf8.count < 10_000)
      // The one of an unknown app has waited for a worker that has it, so it comes last.
      let inOrder =
        Self.corpus.filter { $0.name != "unknown-app" }
        + Self.corpus.filter { $0.name == "unknown-app" }
      for (job, letter) in zip(inOrder, letters.filter { $0["reason"] != "too_large" }) {
        let field = letter["field"] ?? ""
        let message = letter["message"] ?? ""
        #expect(letter["reason"] == (job.name == "unknown-app" ? "unknown_app" : "invalid_job"))
        #expect(
          job.field.isEmpty || field.hasPrefix(job.field), "\(job.name): \(field): \(message)")
        #expect(
          !message.isEmpty && (job.phrase.isEmpty || message.contains(job.phrase)),
          "\(job.name): \(field): \(message)")
        #expect(
          message.utf8.count < 1_000 && message.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f },
          "\(job.name): \(message.debugDescription)")
      }
      // Nothing of them came near a network.
      #expect(stage.simulator.counters.accepted == 1)
      #expect(stage.simulator.counters.violations == 0)
      #expect(stage.simulator.acceptedPushes.map(\.topic) == ["com.example.shop"])
    }
  }
}

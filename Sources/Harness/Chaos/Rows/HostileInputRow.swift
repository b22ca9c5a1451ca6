import Glibc
import LocalServices
import Model
import Redis
import Stage

/// Row 9: the corpus of bad jobs, each given to workers that are at work, and a job beyond all size.
struct HostileInputRow: MatrixRow {
  let number = 9
  let fault = "hostile input"

  /// 64 MB, more than a producer of ours could send.
  private static let largeBytes = 64 << 20
  /// Bytes of a large job that a dead letter may hold.
  private static let keptBytesMax = 10_000
  private static let messageBytesMax = 1_000
  private static let patienceMs: UInt64 = 20_000
  private static let victims = Crowd(app: ChaosStage.app, count: 1, prefix: "e0")

  func run(_ trial: Trial) async throws -> RowResult {
    var result = RowResult(number, fault)
    let corpus: [BadJob]
    do { corpus = try BadJob.corpus() } catch {
      result.notRun = "\(error)"
      return result
    }
    var options = StageOptions()
    options.users = 5_000
    options.workers = 2
    // Longer than 64 MB may keep Redis busy: what is measured is not the lease.
    options.leaseSeconds = 15
    let (number, fault) = (number, fault)
    return try await ChaosStage.with(trial, options) { stage in
      let before = await stage.fleet.members.map(\.child.pid)
      // Whom the corpus is after.
      try await stage.session.install([
        Installation(
          app: ChaosStage.app, user: "victim",
          token: try DeviceToken(Self.victims.tokenText(0), network: .apns))
      ])
      var result = try await stage.underLoad(jobUsers: 1_000) { stage in
        var result = RowResult(number, fault)
        for job in corpus {
          trial.say(job.name)
          let letter = try await Self.letter(stage) { try await stage.session.enqueue(job.bytes) }
          Self.check(job, letter, &result)
        }
        trial.say("64 MB")
        let letter = try await Self.letter(stage) { try await Self.addLarge(stage) }
        Self.checkLarge(letter, &result)
        return result
      }
      let reckoning = try stage.reckon(try await stage.drain())
      result.runs = corpus.count + 1
      // The good ones beside them; whatever else reaches a network is a phantom.
      result.take(reckoning, duplicatesMax: 0)
      result.expectAllAccepted(reckoning)
      let letters = try await stage.deadLetters().count
      result.expect(
        letters == corpus.count + 1, "\(letters) dead letters for \(corpus.count + 1) bad jobs")
      let violations = try await stage.simulator.counters().violations
      result.expect(violations == 0, "\(violations) requests were not as the network wants them")
      let after = await stage.fleet.members.map(\.child.pid)
      result.expect(before == after, "the workers are not those that were started")
      result.note(
        "\(corpus.count + 1) bad jobs, \(letters) dead letters; \(reckoning.pushes) pushes of good jobs beside them"
      )
      return result
    }
  }

  /// The dead letter that comes of what the body does.
  private static func letter(
    _ stage: ChaosStage, _ body: () async throws -> Void
  ) async throws -> [String: String] {
    let before = try await stage.deadLetters().count
    try await body()
    let letter = try await stage.eventually(patienceMs) { () -> [String: String]? in
      // The 64 MB may keep Redis from answering for longer than a command may take.
      guard let letters = try? await stage.deadLetters() else { return nil }
      return letters.count > before ? letters[before] : nil
    }
    return letter ?? [:]
  }

  private static func addLarge(_ stage: ChaosStage) async throws {
    do {
      try await stage.tell(
        "EVAL", "return redis.call('XADD', KEYS[1], '*', 'job', string.rep('x', ARGV[1]))", "1",
        "pushpool:jobs:normal", String(largeBytes))
    } catch let error as RedisError where error.isTemporary {
      // Sent it was: the dead letter will tell.
    }
  }

  private static func check(_ job: BadJob, _ letter: [String: String], _ result: inout RowResult) {
    guard let reason = letter["reason"] else {
      return result.fail("\(job.name): it did not become a dead letter")
    }
    let wanted = job.name == "unknown-app" ? "unknown_app" : "invalid_job"
    let field = letter["field"] ?? ""
    let message = letter["message"] ?? ""
    result.expect(reason == wanted, "\(job.name): its reason is \(reason), not \(wanted)")
    result.expect(
      job.field.isEmpty || field.hasPrefix(job.field),
      "\(job.name): its field is \"\(field)\", not \(job.field)")
    result.expect(
      !message.isEmpty && (job.phrase.isEmpty || message.contains(job.phrase)),
      "\(job.name): \"\(message)\" does not say \"\(job.phrase)\"")
    result.expect(
      message.utf8.count < messageBytesMax
        && message.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f },
      "\(job.name): its message is not a line: \(message.debugDescription)")
  }

  private static func checkLarge(_ letter: [String: String], _ result: inout RowResult) {
    result.expect(
      letter["reason"] == "too_large", "64 MB: its reason is \(letter["reason"] ?? "nothing")")
    result.expect(
      (letter["job"] ?? "").utf8.count < keptBytesMax, "64 MB: its dead letter keeps all of it")
  }
}

import LocalServices
import Model
import Testing

@testable import Chaos

@Suite("reckoning")
struct ReckoningTests {
  private static let crowd = Crowd(app: "shop", count: 100, prefix: "c0")

  /// A job to the users 0 to 9, acknowledged.
  private static func entry(_ change: (inout LedgerEntry) -> Void = { _ in }) -> LedgerEntry {
    var entry = LedgerEntry(number: 0, id: "job-0", app: "shop", users: 0..<10)
    entry.isAcknowledged = true
    change(&entry)
    return entry
  }

  private static func record(_ change: (inout JobRecord) -> Void = { _ in }) -> JobRecord {
    var record = JobRecord(app: "shop", id: "job-0", state: .done)
    record.total = 10
    record.counts.accepted = 10
    change(&record)
    return record
  }

  private static func line(_ user: Int, atMs: Int64 = 1_000, job: Int = 0) -> String {
    "\(atMs) apns \(crowd.tokenText(user)) \(LedgerEntry.topicStart)\(job) 1 3 00ff\n"
  }

  private static func reckon(
    _ lines: [String], _ entry: LedgerEntry = Self.entry(), _ record: JobRecord? = Self.record()
  ) throws -> Reckoning {
    let folder = try TemporaryFolder()
    let file = folder.file("accepted.log")
    try PrivateFile.write(lines.joined(), to: file)
    return try Reckoning.make([entry], acceptLog: file, records: record.map { [0: $0] } ?? [:])
  }

  @Test("finds nothing where everything arrived once")
  func findsNothing() throws {
    let sum = try Self.reckon((0..<10).map { Self.line($0) })
    #expect(sum.pushes == 10)
    #expect(sum.accepts == 10)
    #expect(sum.lost + sum.duplicates + sum.phantoms + sum.late + sum.miscounted == 0)
    #expect(sum.unfinished + sum.unbalanced == 0)
  }

  @Test("finds what was lost although the record counts it")
  func findsLost() throws {
    let sum = try Self.reckon((0..<8).map { Self.line($0) })
    #expect(sum.lost == 2)
    #expect(sum.miscounted == 2)
  }

  @Test("takes a counted end for an explanation")
  func explains() throws {
    let sum = try Self.reckon(
      (0..<8).map { Self.line($0) }, Self.entry(),
      Self.record {
        $0.counts.accepted = 8
        $0.counts.failed = 2
      })
    #expect(sum.lost == 0)
    #expect(sum.failed == 2)
    #expect(sum.miscounted == 0)
  }

  @Test("finds an acknowledged job that is not there, and one that never ends")
  func findsUnfinished() throws {
    #expect(try Self.reckon([], Self.entry(), nil).lost == 10)
    let running = Self.record {
      $0.state = .running
      $0.counts.accepted = 9
      $0.pending = 1
    }
    let sum = try Self.reckon((0..<9).map { Self.line($0) }, Self.entry(), running)
    #expect(sum.unfinished == 1)
    #expect(sum.lost == 1)
  }

  @Test("counts accepts beyond the first")
  func countsDuplicates() throws {
    let sum = try Self.reckon((0..<10).map { Self.line($0) } + [Self.line(3), Self.line(3)])
    #expect(sum.duplicates == 2)
    #expect(sum.miscounted == 0)
  }

  @Test("finds what nobody enqueued: another's token, another's job")
  func findsPhantoms() throws {
    let sum = try Self.reckon(
      (0..<10).map { Self.line($0) } + [Self.line(10), Self.line(3, job: 1)])
    #expect(sum.phantoms == 2)
  }

  @Test("finds requests that began over a second after the stop and before the resumption")
  func findsLate() throws {
    let entry = Self.entry {
      $0.stoppedAtMs = 5_000
      $0.resumedAtMs = 9_000
    }
    let times: [Int64] = [4_000, 5_900, 6_000, 6_001, 8_999, 9_000, 9_500, 4_000, 4_000, 4_000]
    let sum = try Self.reckon(
      times.enumerated().map { Self.line($0.offset, atMs: $0.element) }, entry)
    #expect(sum.late == 2)
  }

  @Test("finds counts that the log does not bear out, and sums that do not hold")
  func findsMiscounts() throws {
    let one = Self.record { $0.counts.accepted = 11 }
    let sum = try Self.reckon((0..<10).map { Self.line($0) }, Self.entry(), one)
    #expect(sum.miscounted == 1)
    #expect(sum.unbalanced == 1)
    // What was counted twice may be taken off elsewhere.
    let hidden = Self.record {
      $0.counts.accepted = 12
      $0.counts.failed = -2
    }
    let other = try Self.reckon((0..<10).map { Self.line($0) }, Self.entry(), hidden)
    #expect(other.miscounted == 2)
    #expect(other.unbalanced == 1)
    #expect(other.lost == 0)
  }

  @Test("finds a job by its users where the log names none, as of FCM")
  func findsByUser() throws {
    let folder = try TemporaryFolder()
    let file = folder.file("accepted.log")
    let entries = [0, 1].map {
      LedgerEntry(
        number: $0, id: "job-\($0)", app: "post", users: $0..<$0 + 1, isNamedByUser: $0 == 1,
        isAcknowledged: true)
    }
    // The project stands in place of a topic.
    let lines = [1, 1, 5].map { "1000 fcm \(Self.crowd.tokenText($0)) demo-shop 1 3 00ff\n" }
    try PrivateFile.write(lines.joined(), to: file)
    let records = Dictionary(
      uniqueKeysWithValues: entries.map { entry in
        var record = JobRecord(app: "post", id: entry.id, state: .done)
        record.total = 1
        record.counts.accepted = 1
        return (entry.number, record)
      })
    let sum = try Reckoning.make(entries, acceptLog: file, records: records)
    #expect(sum.duplicates == 1)
    #expect(sum.phantoms == 1)
    // Its user stands in the log of no job that is named so.
    #expect(sum.lost == 1)
  }

  @Test("refuses a log that it cannot read")
  func refusesGarbage() {
    #expect(throws: ChaosError.self) { try Self.reckon(["half a line\n"]) }
  }

  @Test("the same seed takes the same decisions, another row or seed takes others")
  func repeatsDecisions() throws {
    func draws(_ seed: UInt64, _ row: Int) throws -> [UInt64] {
      let trial = Trial(
        programs: try ChaosPrograms(), row: row, seed: seed, scale: 1, soakMinutes: 1,
        progress: ProgressLine(isQuiet: true))
      var dice = trial.dice(.faults)
      return (0..<8).map { _ in dice.next() }
    }
    #expect(try draws(1, 1) == draws(1, 1))
    #expect(try draws(1, 1) != draws(2, 1))
    #expect(try draws(1, 1) != draws(1, 3))
  }
}

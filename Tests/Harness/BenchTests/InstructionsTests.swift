import Bench
import Testing

@Suite struct InstructionsTests {
  private let profile = """
    # callgrind format
    events: Ir
    fn=(1) main
    12 30
    cfn=(2) malloc
    calls=3 0
    12 90
    cfn=(3) free
    calls=9 0
    12 90
    fn=(4) calloc
    1 5
    cfn=(5) malloc'2
    calls=1 0
    1 20
    fn=(6) other
    cfn=(4)
    calls=2 0
    1 25
    totals: 4711
    """

  @Test("a profile has its total, and the calls of what allocates by name or number")
  func profileText() {
    #expect(CallgrindProfile(profile) == CallgrindProfile(instructions: 4_711, allocations: 6))
    #expect(CallgrindProfile("fn=(1) main\n12 30\n") == nil)
    #expect(CallgrindProfile("") == nil)
  }

  private func baseline() -> InstructionsBaseline {
    InstructionsBaseline(
      date: "2026-11-21", platform: "x86_64, debian 12, Swift 6.3.1",
      InstructionFigures(
        push: InstructionCount(instructions: 30_000, allocations: 4.25),
        job: InstructionCount(instructions: 200_000, allocations: 150)))
  }

  @Test("a baseline is read as it was written")
  func json() throws {
    #expect(try InstructionsBaseline(json: Array(baseline().json.utf8)) == baseline())
  }

  @Test("what is no baseline is refused", arguments: ["", "{}", #"{"date": "2026-11-21"}"#])
  func notJSON(text: String) {
    #expect(throws: BenchError.self) { try InstructionsBaseline(json: Array(text.utf8)) }
  }

  @Test(
    "5 % more instructions pass and more fail, as does another allocation of a push",
    arguments: [
      (31_500.0, 4.25, 0), (31_600, 4.25, 1), (30_000, 4.7, 0), (30_000, 4.8, 1), (40_000, 9, 2),
      (20_000, 0, 0),
    ])
  func faults(instructions: Double, allocations: Double, count: Int) {
    var measured = baseline().figures
    measured.push = InstructionCount(instructions: instructions, allocations: allocations)
    #expect(baseline().faults(of: measured).count == count)
  }

  @Test(
    "10 % more of a job's instructions and allocations pass, and more fail",
    arguments: [
      (220_000.0, 165.0, 0), (221_000, 150, 1), (200_000, 166, 1), (230_000, 170, 2),
    ])
  func faultsOfJobs(instructions: Double, allocations: Double, count: Int) {
    var measured = baseline().figures
    measured.job = InstructionCount(instructions: instructions, allocations: allocations)
    #expect(baseline().faults(of: measured).count == count)
  }

  @Test("a count far below the baseline outdoes it")
  func outdone() {
    var better = baseline().figures
    better.push.instructions = 28_000
    var cheaperJobs = baseline().figures
    cheaperJobs.job.allocations = 130
    var same = baseline().figures
    same.push = InstructionCount(instructions: 29_500, allocations: 4.2)
    #expect(baseline().isOutdone(by: better))
    #expect(baseline().isOutdone(by: cheaperJobs))
    #expect(!baseline().isOutdone(by: same))
  }
}

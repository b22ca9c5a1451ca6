package import ArgumentParser
import LocalServices

/// `pushpool-chaos`.
package struct ChaosCommand: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "pushpool-chaos",
    abstract: "Bring the faults of the fault matrix about, and count what was lost or sent twice.",
    discussion: """
      Each row starts a redis-server, a pushpool-simulator and `pushpool worker` processes of its own,
      really kills, freezes, cuts and restarts them under load, and leaves nothing behind, also after
      Ctrl-C. Then it compares three things: what Redis acknowledged, the simulator's log of accepts,
      which is written before each answer, and the jobs' records.
        lost        acknowledged, never accepted, and in no counter that explains it
        duplicates  accepts of a job and device beyond the first; bound: how many the faults explain
        phantoms    accepts that nobody enqueued, or over a second after their job was stopped
        recovery    the longest time until others had taken over, or work went on

        make chaos                                     everything, in about half an hour
        pushpool-chaos --only 1,12 --scale 0.1         two rows, a tenth of the size
        pushpool-chaos --seed 7 --only 5               the same decisions as every run with seed 7
        pushpool-chaos --only 14 --soak-minutes 480    a night
        pushpool-chaos --only 1,3,4,5 --small-jobs     jobs of one user each in place of campaigns

      Programs are looked for beside this one: build pushpool and pushpool-simulator, too. Row 2 needs
      pushpool's debug build as well, in ../debug; row 9 the corpus of Tests/Programs/EndToEndTests/BadJobs.
      The exit code is 1 when a row fails or cannot be run, 69 when nothing could be started.
      """)

  private static let failed = ExitCode(1)
  /// EX_UNAVAILABLE of sysexits(3).
  private static let unavailable = ExitCode(69)

  @Option(help: "Where all random decisions start from; printed with the results.")
  var seed = ChaosDefaults.seed

  @Option(help: ArgumentHelp("Only these rows, such as 1,3,5.", valueName: "rows"))
  var only: String?

  @Option(
    help: ArgumentHelp("Of rows 5 and 6 only the phases whose name holds this.", valueName: "text"))
  var phase: String?

  @Flag(
    help: ArgumentHelp(
      "Let the load of rows 1, 3 to 5 and 10 to 12 be jobs of one user each.",
      discussion: "Rows 2, 13 and 23 have such jobs in any case."))
  var smallJobs = false

  @Flag(help: "Name the rows and end.")
  var list = false

  @Option(help: "The size of the runs; at 1 row 1 is 100 kills in 1,000,000 pushes.")
  var scale = 1.0

  @Option(help: "How long row 14 goes on.")
  var soakMinutes = ChaosDefaults.soakMinutes

  @Option(
    name: .customLong("json"),
    help: ArgumentHelp("Write the results to this file too.", valueName: "file"))
  var jsonFile: String?

  package init() {}

  package func validate() throws {
    guard (ChaosLimits.scaleMin...ChaosLimits.scaleMax).contains(scale) else {
      throw ValidationError(
        "--scale takes \(ChaosLimits.scaleMin) to \(ChaosLimits.scaleMax), not \(scale).")
    }
    guard soakMinutes > 0, soakMinutes <= ChaosLimits.soakMinutesMax else {
      throw ValidationError(
        "--soak-minutes takes more than 0 and at most \(ChaosLimits.soakMinutesMax), "
          + "not \(soakMinutes).")
    }
    _ = try numbers()
  }

  private func numbers() throws -> [Int] {
    guard let only else { return FaultMatrix.numbers }
    return try only.split(separator: ",").map { text in
      guard let number = Int(text.filter { $0 != " " }), FaultMatrix.numbers.contains(number)
      else {
        throw ValidationError(
          "--only takes rows of the matrix, separated by commas; \"\(text)\" is none. "
            + "--list names them.")
      }
      return number
    }
  }

  package func run() async throws {
    if list { return print(FaultMatrix.list.joined(separator: "\n")) }
    let progress = ProgressLine()
    let programs: ChaosPrograms
    do { programs = try ChaosPrograms() } catch {
      progress.note("pushpool-chaos: \(error)")
      throw Self.unavailable
    }
    progress.note("seed \(seed), scale \(scale)")
    var results: [RowResult] = []
    for number in try numbers() {
      guard
        let result = await FaultMatrix.run(
          number, programs: programs, seed: seed, scale: scale, soakMinutes: soakMinutes,
          isOfSmallJobs: smallJobs, phase: phase, progress: progress)
      else { continue }
      results.append(result)
      let outcome =
        result.notRun.map { "NOT RUN: \($0)" }
        ?? "\(result.isPassed ? "passed" : "FAILED") in \(tenths(result.seconds)) s"
      progress.note("row \(number), \(result.fault): \(outcome)")
      for failure in result.failures { progress.note("  \(failure)") }
    }
    progress.end()
    let report = MatrixReport(seed: seed, scale: scale, results: results)
    print(report.text, terminator: "")
    do {
      if let jsonFile { try PrivateFile.write(report.json, to: jsonFile) }
    } catch {
      progress.note("pushpool-chaos: \(error)")
      throw Self.unavailable
    }
    if !report.isPassed { throw Self.failed }
  }
}

/// The settings of a run when nothing else is asked for.
package enum ChaosDefaults {
  package static let seed: UInt64 = 1
  package static let soakMinutes = 5.0
}

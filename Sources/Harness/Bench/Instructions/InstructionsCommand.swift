import ArgumentParser
import Glibc
import LocalServices

/// `pushpool-bench instructions`.
struct InstructionsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "instructions",
    abstract: "Count a worker's instructions and allocations per push and per job, under valgrind.",
    discussion: """
      Two campaigns of 10,000 and 110,000 pushes (APNs, one lane) under valgrind's callgrind; the
      difference is what 100,000 pushes take, free of what start and end cost. A third run has
      10,000 jobs of one user each beside the smaller campaign. The count does not
      depend on how busy the machine is; it does on the compiler and the system's libraries, so it
      is compared with a baseline of the same platform only.

      The exit code is 1 when a push takes more than 5 % more instructions than the baseline has, a
      job more than 10 %, or either more allocations. After an improvement, or a change that is
      worth its price, write the new figures with --update and commit them with the change.
      """)

  @Option(
    help: ArgumentHelp(
      "The committed figures, a JSON file; none are compared without.",
      valueName: "file"))
  var baseline: String?

  @Flag(name: .customLong("update"), help: "Write the baseline instead of comparing with it.")
  var updates = false

  func validate() throws {
    if updates, baseline == nil { throw ValidationError("--update needs --baseline FILE.") }
  }

  func run() async throws {
    let progress = ProgressLine()
    do {
      // Before the counting, which takes a while.
      let old = updates ? nil : try baseline.map(Self.read)
      let platform = try await Platform.description()
      let count = try await InstructionsRun(programs: try Programs(), progress: progress).measure()
      progress.end()
      print("\(count.text) (\(platform))")
      if updates, let baseline {
        let new = InstructionsBaseline(date: Self.today(), platform: platform, count)
        try TextFile.write(new.json, to: baseline)
      } else if let old {
        try compare(count, old, platform)
      }
    } catch let error as ExitCode {
      throw error
    } catch {
      progress.end()
      progress.note("pushpool-bench: \(error)")
      throw BenchCommand.unavailable
    }
  }

  private func compare(
    _ count: InstructionFigures, _ old: InstructionsBaseline, _ platform: String
  ) throws {
    guard old.platform == platform else {
      print("Not compared: the baseline is of another platform, \(old.platform).")
      return
    }
    let faults = old.faults(of: count)
    for fault in faults { print(fault) }
    guard faults.isEmpty else { throw BenchCommand.missed }
    print("\(old.change(count)) against the baseline of \(old.date).")
    if old.isOutdone(by: count) { print("So much better: commit a new baseline (--update).") }
  }

  private static func read(_ path: String) throws(BenchError) -> InstructionsBaseline {
    guard let bytes = TextFile.bytes(path, bytesMax: BenchLimits.textBytesMax) else {
      throw BenchError("cannot read the baseline \(path)")
    }
    return try InstructionsBaseline(json: bytes)
  }

  /// `2026-11-21`, in UTC.
  private static func today() -> String {
    var now = time(nil)
    var parts = tm()
    gmtime_r(&now, &parts)
    var text = [CChar](repeating: 0, count: 16)
    let length = strftime(&text, text.count, "%Y-%m-%d", &parts)
    return String(decoding: text[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

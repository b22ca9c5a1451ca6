internal import Glibc
internal import Model
package import ProgramSetup
internal import Store
internal import Typesetting

/// Brings a file of installations, and of subscriptions, into the store; the same for `import` and for the demo.
package final class InstallationImport {
  package struct Settings {
    var skipsErrors = false
    var rejectsFile: String?
    /// Where to keep the position; nil for none.
    var position: PositionFile?
    /// Whether to import nothing when the position cannot be written.
    var needsPosition = false
    /// Where to begin: what was read from `position`, or the start of the file.
    var start = ImportPosition()
    var label = "importing"
    /// The file is an export of another service; nil for lines of pushpool. It reports itself what was refused.
    var foreign: ForeignExport?

    package init() {}
  }

  private let input: ImportInput
  private let settings: Settings
  private let console: Console
  private let display: ProgressDisplay
  private let rejects: RejectedLines
  private var pipeline: ImportPipeline
  private var batch = ImportBatch()
  package private(set) var tally = ImportTally()
  private var position: ImportPosition
  private var positionWritten = ContinuousClock.now
  private var positionProblem: String?
  /// Advice from the shape of the file, when its lines are no objects at all.
  private(set) var shapeAdvice: String?

  package init(
    _ input: ImportInput, _ settings: Settings, session: RedisSession, console: Console = .standard
  ) throws(CommandFailure) {
    self.input = input
    self.settings = settings
    self.console = console
    display = ProgressDisplay(label: settings.label, total: nil, console: console)
    if settings.foreign != nil { tally.noun = "installation" }
    rejects = try RejectedLines(
      file: settings.rejectsFile, input: input, noun: tally.noun,
      shownMax: settings.foreign == nil ? CommandLineLimits.rejectsShownMax : 0, display: display,
      console: console)
    if let position = settings.position { try rejects.check(isNot: position) }
    pipeline = ImportPipeline(session: session)
    position = settings.start
  }

  package var elapsedMs: Int64 { display.elapsedMs }

  /// Imports until the end, the first bad line, or Ctrl-C; what stands before is installed in each case. It also
  /// ends when Redis fails: then nothing more is sent, and the position stays before the batch that failed.
  package func run() async throws(CommandFailure) {
    let reader = try reader()
    // From now on it would tell of what an earlier import did.
    if position == ImportPosition() { settings.position?.remove() }
    if settings.needsPosition { try settings.position?.write(position) }
    do throws(CommandFailure) {
      let reason = try await read(reader)
      try await finish()
      if let reason { throw reason }
    } catch {
      display.clear()
      // Nothing of such a file can be gone on with.
      if shapeAdvice != nil, !settings.skipsErrors { throw error }
      savePosition(now: true)
      throw resumable(error)
    }
    display.clear()
    settings.position?.remove()
  }

  private func reader() throws(CommandFailure) -> any ImportReader {
    if settings.foreign != nil {
      return ElementReader(
        descriptor: input.descriptor, name: input.name,
        elementBytesMax: Limits.installationBytesMax)
    }
    if position.offset > 0,
      lseek(input.descriptor, off_t(position.offset), SEEK_SET) != position.offset
    {
      throw InputFile.failure(input.name)
    }
    return LineReader(
      descriptor: input.descriptor, name: input.name, lineBytesMax: Limits.installationBytesMax,
      position: position)
  }

  /// Sends the lines in full batches.
  /// - Returns: why it ended before the end of the input; what is in hand is still to be sent.
  /// - Throws: when Redis failed.
  private func read(_ reader: any ImportReader) async throws(CommandFailure) -> CommandFailure? {
    while true {
      do throws(CommandFailure) {
        guard try readLine(reader) else { return nil }
      } catch {
        return error
      }
      if batch.isFull { try await send() }
    }
  }

  /// - Returns: false at the end of the input.
  private func readLine(_ reader: any ImportReader) throws(CommandFailure) -> Bool {
    try Interrupts.shared.check()
    guard let refusal = try reader.next(take) else { return false }
    if let refusal {
      if let shape = (reader as? LineReader)?.shape {
        shapeAdvice = shape.advice(name: input.name, to: .installations)
      }
      try refuse(line: reader.lineNumber, refusal.description)
    }
    batch.position = ImportPosition(offset: reader.offset, lines: reader.lineNumber)
    return true
  }

  /// Adds a line to the batch, or says what is wrong with it.
  private func take(_ line: LineReader.Line) -> InvalidField? {
    if let foreign = settings.foreign { return take(line, of: foreign) }
    let document: UnsafeBufferPointer<UInt8>?
    do throws(InvalidField) { document = try line.document() } catch { return error }
    guard let bytes = document else { return nil }
    do throws(InvalidField) {
      batch.append(try ImportLine(bytes: bytes), bytes: bytes.count)
      return nil
    } catch {
      return error
    }
  }

  private func take(_ element: LineReader.Line, of foreign: ForeignExport) -> InvalidField? {
    do throws(InvalidField) {
      let installation = try foreign.installation(of: element)
      if case .text(let bytes) = element {
        batch.append(.installation(installation), bytes: bytes.count)
      }
      return nil
    } catch {
      return error
    }
  }

  private func refuse(line: Int, _ reason: String) throws(CommandFailure) {
    guard settings.skipsErrors else {
      let advice = shapeAdvice.map { "; \($0)" } ?? ""
      throw CommandFailure(
        .badInput, "\(input.name):\(line): \(DisplayText.printable(reason))\(advice)")
    }
    try rejects.add(line: line, reason: reason)
    tally.refused += 1
  }

  private func send() async throws(CommandFailure) {
    if pipeline.isFull { try await receive() }
    try await pipeline.send(batch)
    batch = ImportBatch()
  }

  private func receive() async throws(CommandFailure) {
    guard let (batch, answer) = try await pipeline.receive() else { return }
    tally.add(answer, of: batch)
    position = batch.position
    savePosition(now: false)
    let sizeBytes = input.status.isRegular ? Int(input.status.sizeBytes) : nil
    display.update(
      done: sizeBytes == nil ? tally.done : Int(position.offset), count: tally.done,
      total: sizeBytes)
  }

  /// Sends the rest and waits for all answers.
  private func finish() async throws(CommandFailure) {
    if !batch.isEmpty { try await send() }
    while !pipeline.isEmpty { try await receive() }
  }

  private func savePosition(now: Bool) {
    guard let file = settings.position else { return }
    let interval = Duration.milliseconds(CommandLineLimits.positionIntervalMs)
    guard now || ContinuousClock.now - positionWritten >= interval else { return }
    positionWritten = .now
    do throws(CommandFailure) {
      try file.write(position)
      positionProblem = nil
    } catch {
      // Said once: the position before it still holds, and a disk may have room again.
      if positionProblem == nil {
        display.clear()
        console.note("\(error)")
      }
      positionProblem = "\(error)"
    }
  }

  /// Adds what is in already, and how the rest comes in.
  private func resumable(_ failure: CommandFailure) -> CommandFailure {
    let hasPosition = settings.position != nil && positionProblem == nil
    guard hasPosition || tally.done > 0 else { return failure }
    let correction =
      failure.status == .badInput ? "correct the \(hasPosition ? "line" : "input"), then " : ""
    let way = hasPosition ? "go on with --resume" : "import all of it again"
    return CommandFailure(
      failure.status, "\(failure); \(tally.doneText) are in, \(correction)\(way)")
  }
}

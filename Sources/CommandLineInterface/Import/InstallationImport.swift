internal import Glibc
internal import Model
internal import Store

/// Brings a file of installations into the store; the same for `import` and for the demo.
final class InstallationImport {
  struct Settings {
    /// A path, or `-`.
    var file: String
    var skipsErrors = false
    var rejectsFile: String?
    /// Where to keep the position; nil when the input cannot be read again.
    var positionFile: String?
    var start = ImportPosition()
    var label = "importing"
  }

  private let settings: Settings
  private let console: Console
  private let display: ProgressDisplay
  private let rejects: RejectedLines
  private var pipeline: ImportPipeline
  private var batch = ImportBatch()
  private(set) var tally = ImportTally()
  private var position: ImportPosition
  private var sizeBytes: Int?
  private var positionWritten = ContinuousClock.now
  private var canWritePosition = true

  init(
    _ settings: Settings, session: RedisSession, console: Console = .standard
  ) throws(CommandFailure) {
    self.settings = settings
    self.console = console
    display = ProgressDisplay(label: settings.label, total: nil, console: console)
    rejects = try RejectedLines(file: settings.rejectsFile, display: display, console: console)
    pipeline = ImportPipeline(session: session)
    position = settings.start
  }

  var elapsedMs: Int64 { display.elapsedMs }

  /// Imports until the end, the first bad line, or Ctrl-C; what was sent is waited for in each case.
  func run() async throws(CommandFailure) {
    let descriptor = try InputFile.open(settings.file)
    defer { InputFile.close(descriptor, settings.file) }
    let reader = try reader(descriptor)
    let failure: CommandFailure?
    do throws(CommandFailure) {
      try await read(reader)
      failure = nil
    } catch {
      failure = error
    }
    let late = await settle()
    display.clear()
    if let failure = failure ?? late {
      savePosition(now: true)
      throw resumable(failure)
    }
    if let path = settings.positionFile { unlink(path) }
  }

  private func reader(_ descriptor: CInt) throws(CommandFailure) -> LineReader {
    var status = stat()
    let isRegular = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    sizeBytes = isRegular ? Int(status.st_size) : nil
    if position.offset > 0 {
      guard isRegular, position.offset <= status.st_size,
        lseek(descriptor, off_t(position.offset), SEEK_SET) == position.offset
      else {
        throw CommandFailure(
          .badInput,
          "\(settings.file) is shorter than what was imported of it; import it without --resume")
      }
    }
    return LineReader(
      descriptor: descriptor, name: settings.file, lineBytesMax: Limits.installationBytesMax,
      position: position)
  }

  private func read(_ reader: LineReader) async throws(CommandFailure) {
    while true {
      if Interrupts.shared.hasCome { throw CommandFailure(.interrupted, "interrupted") }
      guard let refusal = try reader.next({ take($0, reader.lineNumber) }) else { break }
      if let refusal { try refuse(line: reader.lineNumber, refusal.description) }
      batch.position = ImportPosition(offset: reader.offset, lines: reader.lineNumber)
      if batch.isFull {
        if pipeline.isFull { try await receive() }
        flush()
      }
    }
  }

  /// Adds a line to the batch, or says what is wrong with it.
  private func take(_ line: LineReader.Line, _ number: Int) -> InvalidField? {
    guard case .text(let bytes) = line else {
      return InvalidField(
        pointer: "",
        message: "the line is longer than \(Limits.installationBytesMax) bytes")
    }
    // A blank line, or what an editor on Windows leaves of one.
    guard !bytes.allSatisfy({ $0 == 0x20 || $0 == 0x0D || $0 == 0x09 }) else { return nil }
    do throws(InvalidField) {
      batch.append(try Installation(bytes: bytes), line: number, bytes: bytes.count)
      return nil
    } catch {
      return error
    }
  }

  private func refuse(line: Int, _ reason: String) throws(CommandFailure) {
    tally.refused += 1
    guard settings.skipsErrors else {
      throw CommandFailure(
        .badInput, "\(settings.file):\(line): \(DisplayText.printable(reason))")
    }
    rejects.add(line: line, reason: reason)
  }

  private func flush() {
    guard !batch.isEmpty else { return }
    pipeline.send(batch)
    batch = ImportBatch()
  }

  private func receive() async throws(CommandFailure) {
    guard let (batch, answer) = try await pipeline.receive() else { return }
    tally.add(answer)
    position = batch.position
    savePosition(now: false)
    display.update(
      done: sizeBytes == nil ? tally.installed : Int(position.offset), count: tally.installed,
      total: sizeBytes)
    for index in answer.refused where index < batch.lineNumbers.count {
      try refuse(
        line: batch.lineNumbers[index],
        "/user: has \(Limits.installationsPerUserMax) installations already")
    }
  }

  /// Sends the rest and waits for all answers, also after a failure: what stands before it is installed.
  private func settle() async -> CommandFailure? {
    flush()
    var failure: CommandFailure?
    while !pipeline.isEmpty {
      do throws(CommandFailure) { try await receive() } catch { failure = failure ?? error }
    }
    return failure
  }

  private func savePosition(now: Bool) {
    guard let path = settings.positionFile, canWritePosition else { return }
    let interval = Duration.milliseconds(CommandLineLimits.positionIntervalMs)
    guard now || ContinuousClock.now - positionWritten >= interval else { return }
    positionWritten = .now
    canWritePosition = position.write(path)
    if !canWritePosition {
      display.clear()
      console.note("\(path) cannot be written: this import cannot be resumed")
    }
  }

  private func resumable(_ failure: CommandFailure) -> CommandFailure {
    guard settings.positionFile != nil, canWritePosition else { return failure }
    return CommandFailure(
      failure.status,
      "\(failure); \(FigureText.count(tally.installed)) installations are in, go on with --resume")
  }
}

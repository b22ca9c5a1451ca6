internal import ArgumentParser
internal import Model
internal import Typesetting

struct ImportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Install many device tokens from a file, and subscribe users.",
    discussion: """
      One installation a line, as JSON:

        {"app": "shop", "user": "u1", "network": "apns", "token": "00ff…"}
        {"app": "shop", "user": "u2", "network": "fcm", "token": "cX1…"}

      A line with a topic subscribes a user: {"app": "shop", "topic": "news", "user": "u1"}. export \
      writes such files.

        pushpool import installations.ndjson
        zcat installations.gz | pushpool import - --skip-errors --rejects refused.txt

      It stops at the first bad line unless --skip-errors is given. Importing a line twice is \
      harmless. A token that stands in several lines ends with the last of them, and a user has \
      at most \(Limits.installationsPerUserMax) devices: of more the last ones stay.

      FILE.position says how far a file has come until it is done. --resume goes on from there, \
      as long as the lines before that place are what they were.
      """)

  @Argument(help: "The file; - for standard input.")
  var file: String

  @Flag(help: "Pass over bad lines, and say which.")
  var skipErrors = false

  @Option(help: ArgumentHelp("Append bad lines' numbers and reasons to a file.", valueName: "file"))
  var rejects: String?

  @Flag(help: "Go on where an earlier import of this file stopped.")
  var resume = false

  @Option(
    help: ArgumentHelp("Where to keep the position (default: FILE.position).", valueName: "file"))
  var position: String?

  @OptionGroup var shared: SharedOptions

  func validate() throws {
    if file == "-", resume || position != nil {
      throw ValidationError(
        "--resume and --position need a file: standard input cannot be read again.")
    }
    if rejects != nil, !skipErrors {
      throw ValidationError("--rejects goes with --skip-errors.")
    }
  }

  func run() async throws {
    let console = Console.standard
    let input = try ImportInput(file)
    var settings = InstallationImport.Settings()
    settings.skipsErrors = skipErrors
    settings.rejectsFile = rejects
    settings.position = try positionFile(of: input)
    settings.needsPosition = position != nil
    if resume, let kept = settings.position {
      if let start = try kept.read() {
        settings.start = start
        console.note("going on behind line \(FigureText.count(start.lines))")
      } else {
        console.note("there is no \(kept.path): beginning at the start")
      }
    }
    let session = try await shared.openSession(functions: true)
    Interrupts.shared.expect()
    let work = try InstallationImport(input, settings, session: session, console: console)
    try await work.run()
    await session.close()
    if shared.json {
      console.print(json: work.tally.json(elapsedMs: work.elapsedMs))
    } else {
      console.print(work.tally.sentence(elapsedMs: work.elapsedMs))
    }
  }

  private func positionFile(of input: ImportInput) throws(CommandFailure) -> PositionFile? {
    if let path = position ?? PositionFile.usual(of: input) {
      return try PositionFile(path, of: input)
    }
    guard !resume else {
      throw CommandFailure(
        .usage,
        "--resume needs a file, or the place of its position: \(InputFile.shown(file)) cannot be read again"
      )
    }
    return nil
  }
}

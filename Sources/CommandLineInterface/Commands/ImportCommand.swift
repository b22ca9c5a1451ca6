internal import ArgumentParser
internal import Model

struct ImportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Install many device tokens from a file.",
    discussion: """
      One installation a line, as JSON:

        {"app": "shop", "user": "u1", "network": "apns", "token": "00ff…"}
        {"app": "shop", "user": "u2", "network": "fcm", "token": "cX1…", "language": "de"}

        pushpool import installations.ndjson
        zcat installations.gz | pushpool import - --skip-errors --rejects refused.txt

      It stops at the first bad line unless --skip-errors is given. Importing a line twice is \
      harmless. How far a file is stands in FILE.position until it is done; --resume goes on \
      from there.
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
    if resume, file == "-" {
      throw ValidationError("--resume needs a file: standard input cannot be read again.")
    }
    if rejects != nil, !skipErrors {
      throw ValidationError("--rejects goes with --skip-errors.")
    }
  }

  func run() async throws {
    let console = Console.standard
    var settings = InstallationImport.Settings(file: file)
    settings.skipsErrors = skipErrors
    settings.rejectsFile = rejects
    if file != "-" {
      let path = position ?? ImportPosition.file(of: file)
      settings.positionFile = path
      if resume {
        if let start = try ImportPosition.read(path) {
          settings.start = start
          console.note("going on behind line \(FigureText.count(start.lines))")
        } else {
          console.note("there is no \(path): beginning at the start")
        }
      }
    }
    let session = try await shared.openSession(functions: true)
    Interrupts.shared.expect()
    let work = try InstallationImport(settings, session: session, console: console)
    try await work.run()
    await session.close()
    if shared.json {
      console.print(json: work.tally.json(elapsedMs: work.elapsedMs))
    } else {
      console.print(work.tally.sentence(elapsedMs: work.elapsedMs))
    }
  }
}

internal import ArgumentParser
internal import Model
internal import Operations
internal import ProgramSetup
internal import PushpoolConfiguration
internal import Store
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

      It stops at the first bad line unless --skip-errors is given. It ends with 65 then, and when \
      every line was refused. Importing a line twice is \
      harmless. A token that stands in several lines ends with the last of them, and a user has \
      at most \(Limits.installationsPerUserMax) devices: of more the last ones stay.

      FILE.position says how far a file has come until it is done. --resume goes on from there, \
      as long as the lines before that place are what they were.

      An export of another service is taken as it is: {"results": [...]}, an array, or one object \
      after the other. What cannot be taken is passed over, and a report says what it was and why.

        pushpool import parse.json --format parse --app shop
        pushpool import ncmb.json --format ncmb --app shop --rejects refused.txt

      The field "user" names the user; --user-field names another. In an app without accounts, \
      --user-field installationId makes each device a user of its own.
      """)

  @Argument(help: "The file; - for standard input.")
  var file: String

  @Option(help: "What wrote the file: pushpool, parse or ncmb.")
  var format = ImportFormat.pushpool

  @Option(help: "The app of the installations of parse or ncmb.")
  var app: String?

  @Option(
    help: ArgumentHelp(
      "The field of parse or ncmb that names the user (default: user).", valueName: "field"))
  var userField: String?

  @Option(help: "The environment of the installations of parse or ncmb (default: production).")
  var environment: PushEnvironment?

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
    if format != .pushpool { return try validateForeign() }
    if app != nil || userField != nil || environment != nil {
      throw ValidationError(
        "--app, --user-field and --environment go with --format parse or ncmb: a line names its own."
      )
    }
    if rejects != nil, !skipErrors {
      throw ValidationError("--rejects goes with --skip-errors.")
    }
  }

  private func validateForeign() throws {
    guard let app else {
      throw ValidationError("--app is missing: an export of \(format.rawValue) does not name it.")
    }
    do throws(InvalidField) { try TextRule.checkApp(app) } catch {
      throw ValidationError("--app \(error.message)")
    }
    if resume || position != nil {
      throw ValidationError(
        "--resume and --position do not go with --format \(format.rawValue): import the file again, "
          + "which is harmless.")
    }
    if userField?.isEmpty == true { throw ValidationError("--user-field must not be empty.") }
  }

  /// How the file's installations become those of pushpool; nil when they are.
  private var foreign: ForeignExport? {
    let fields: ForeignFields
    switch format {
    case .pushpool: return nil
    case .parse: fields = .parse
    case .ncmb: fields = .ncmb
    }
    return ForeignExport(
      ForeignMapping(
        fields: fields, app: app ?? "", userField: userField ?? "user",
        environment: environment ?? .production))
  }

  func run() async throws {
    let console = Console.standard.with(.isIgnored)
    let input = try ImportInput(file)
    var settings = InstallationImport.Settings()
    settings.skipsErrors = skipErrors
    settings.rejectsFile = rejects
    settings.foreign = foreign
    if settings.foreign != nil {
      // What is refused of an export is only reported.
      settings.skipsErrors = true
    } else {
      settings.position = try positionFile(of: input)
    }
    settings.needsPosition = position != nil
    if resume, let kept = settings.position {
      if let start = try kept.read() {
        settings.start = start
        console.note("going on behind line \(FigureText.count(start.lines))")
      } else {
        console.note("there is no \(kept.path): beginning at the start")
      }
    }
    let configuration = try shared.configuration()
    if let app { AppOption.warn(of: app, unlessIn: configuration, on: console) }
    let session = try await RedisSession.open(configuration, as: .operator)
    await session.warnOfRisks(in: .present, on: console)
    Interrupts.shared.expect()
    let work = try InstallationImport(input, settings, session: session, console: console)
    do {
      try await work.run()
    } catch {
      for line in settings.foreign?.report ?? [] { console.note(line) }
      throw error
    }
    await session.close()
    if shared.json {
      let tally = work.tally.json(elapsedMs: work.elapsedMs)
      console.print(json: settings.foreign?.addReport(to: tally) ?? tally)
    } else {
      for line in settings.foreign?.report ?? [] { console.note(line) }
      console.print(work.tally.sentence(elapsedMs: work.elapsedMs))
    }
    if work.tally.done == 0, work.tally.refused > 0 {
      throw CommandFailure(
        .badInput,
        "nothing was imported: every \(work.tally.noun) was refused"
          + (work.shapeAdvice.map { "; \($0)" } ?? ""))
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

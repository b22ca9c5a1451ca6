internal import ArgumentParser
internal import Model
internal import Operations
internal import ProgramSetup
internal import PushpoolConfiguration
internal import Store
internal import Typesetting

struct ExportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write all installations and subscriptions, as import reads them.",
    discussion: """
        pushpool export > devices.ndjson
        pushpool export --app shop | gzip > shop.ndjson.gz

      The first example exports every app. To move to another Redis, import the file there:

        pushpool export > devices.ndjson
        pushpool import devices.ndjson --redis redis://new:6379

      Devices may come and go meanwhile. Every installation and subscription that exists throughout the \
      export is written. A line may come twice, which does not matter to import. The file names \
      people's devices: keep it as you keep a password. An export whose reader ends early is not \
      whole, and ends with 74.
      """)

  @Option(help: ArgumentHelp("Only this app's (default: every app's).", valueName: "app"))
  var app: String?

  @OptionGroup var shared: SharedOptions

  func validate() throws {
    guard let app else { return }
    do { try TextRule.checkApp(app) } catch { throw ValidationError("--app \(error.message)") }
  }

  func run() async throws {
    let console = Console.standard.with(
      .fails("the export is not whole: whoever reads it has closed the pipe; export again"))
    let configuration = try shared.configuration()
    if let app { AppOption.warn(of: app, unlessIn: configuration, on: console) }
    let session = try await RedisSession.open(configuration, as: .reader)
    Interrupts.shared.expect()
    let app = app
    let done: (progress: Export.Progress, elapsedMs: Int64)
    do throws(CommandFailure) {
      done = try await session.operate(in: app.map { .app($0) } ?? .all) {
        stores throws(OperationError) in
        let display = ProgressDisplay(label: "exporting", total: nil, console: console)
        defer { display.clear() }
        let progress = try await Export(stores: stores, patience: .ofCommands()).run(app: app) {
          part, progress in
          Self.write(part, to: console)
          display.update(
            done: progress.keysSeen, count: progress.installations + progress.subscriptions,
            total: progress.keys)
        }
        return (progress, display.elapsedMs)
      }
    } catch {
      throw CommandFailure(error.status, "\(error); what was written is not all: export again")
    }
    await session.close()
    console.note(
      "exported \(FigureText.count(done.progress.installations)) installations and "
        + "\(FigureText.count(done.progress.subscriptions)) subscriptions in "
        + FigureText.duration(ms: done.elapsedMs))
  }

  private static func write(_ part: Export.Part, to console: Console) {
    let documents =
      switch part {
      case .installations(let installations): installations.map { $0.json() }
      case .subscriptions(let subscriptions): subscriptions.map { $0.json() }
      }
    guard !documents.isEmpty else { return }
    // A page at a time: a write a line would cost more than the reading.
    console.print(jsonLines: documents)
  }
}

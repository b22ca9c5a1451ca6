internal import ArgumentParser
internal import Configuration
internal import Model
internal import Operations
internal import Store
internal import Typesetting

struct IndexCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "index",
    abstract: "Find the users whom an older version has bound, for jobs to all and to channels.",
    discussion: """
        pushpool index --app shop

      Jobs to all and to channels are refused (not_indexed) until this has run once for the app. Run it \
      when all workers and commands are of this version, because older ones add their users to no \
      index. A Redis that only this version has used needs no run.

      The command looks at every key of the database, a few hundred at a time, and other work goes on. \
      Ctrl-C is harmless: the next run begins at the start and adds the users who are missing.
      """)

  @OptionGroup var appOption: AppOption
  @OptionGroup var shared: SharedOptions

  func run() async throws {
    let console = Console.standard
    let configuration = try shared.configuration()
    let app = try appOption.resolve(configuration)
    AppOption.warn(of: app, unlessIn: configuration, on: console)
    let session = try await RedisSession.open(configuration.redis, as: .operator)
    Interrupts.shared.expect()
    let result = try await session.operate { stores throws(OperationError) in
      let display = ProgressDisplay(label: "indexing", total: nil, console: console)
      defer { display.clear() }
      return try await UserIndexing(stores: stores, patience: .ofCommands()).run(app: app) {
        index in
        display.update(
          done: index.walk.keysSeen, count: index.found, total: index.walk.keys)
      }
    }
    await session.close()
    if shared.json {
      return console.print(
        json: .object(["users": .integer(result.found), "added": .integer(result.added)]))
    }
    console.print(
      "\(app): \(FigureText.count(result.found)) users have a device, "
        + "\(FigureText.count(result.added)) of them were not in the index")
  }
}

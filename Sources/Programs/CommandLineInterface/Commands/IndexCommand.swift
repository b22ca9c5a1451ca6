internal import ArgumentParser
internal import Model
internal import Operations
internal import PushpoolConfiguration
internal import Store
internal import Typesetting

struct IndexCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "index",
    abstract: "Mend bindings that are half there, and find users whom an older version has bound.",
    discussion: """
        pushpool index --app shop

      Jobs to all and to channels are refused (not_indexed) until this has run once for the app. Run it \
      when all workers and commands are of this version, because older ones add their users to no \
      index. A Redis that only this version has used needs no run.

      First it compares each user's devices with the records of their tokens, and mends what is half \
      there. Only something that deletes keys leaves half of a binding: an eviction, or a person. Run \
      it after such a thing.

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
    let session = try await RedisSession.open(configuration, as: .operator)
    Interrupts.shared.expect()
    let mended = try await session.operate(in: .app(app), about: [.audiences(app: app)]) {
      stores throws(OperationError) in
      let display = ProgressDisplay(label: "mending", total: nil, console: console)
      defer { display.clear() }
      return try await BindingMending(stores: stores, patience: .ofCommands()).run(app: app) {
        walk in
        display.update(
          done: walk.walk.keysSeen, count: walk.mended, total: walk.walk.keys)
      }
    }
    let result = try await session.operate(in: .app(app), about: [.audiences(app: app)]) {
      stores throws(OperationError) in
      let display = ProgressDisplay(label: "indexing", total: nil, console: console)
      defer { display.clear() }
      return try await UserIndexing(stores: stores, patience: .ofCommands()).run(app: app) {
        index in
        display.update(
          done: index.walk.keysSeen, count: index.found, total: index.walk.keys)
      }
    }
    await session.close()
    let records = mended.reduce(0) { $0 + $1.records }
    let lines = mended.reduce(0) { $0 + $1.lines }
    let dropped = mended.reduce(0) { $0 + $1.dropped }
    if shared.json {
      let mended: JSONObject = [
        "records": .integer(records), "devices": .integer(lines), "removed": .integer(dropped),
      ]
      return console.print(
        json: .object([
          "users": .integer(result.found), "added": .integer(result.added),
          "mended": .object(mended),
        ]))
    }
    if records + lines + dropped > 0 {
      console.print(
        "\(app): \(FigureText.count(records + lines + dropped)) bindings were half there and were "
          + "mended: \(FigureText.count(records)) got their record back, "
          + "\(FigureText.count(lines)) their user, and \(FigureText.count(dropped)) were removed "
          + "from users whose device it is no more; look for what deletes keys in Redis")
    }
    console.print(
      "\(app): \(FigureText.count(result.found)) users have a device, "
        + "\(FigureText.count(result.added)) of them were not in the index")
  }
}

internal import Model
internal import Operations
internal import ProgramSetup
internal import PushpoolConfiguration
internal import Redis
internal import Store
internal import Typesetting

/// The topics, or the channels, of an app and how many users are in each.
struct SizeList {
  let kind: AudienceLookup.Kind
  /// The words, before the app's name, when there are none.
  let nobody: String

  func show(_ appOption: AppOption, _ shared: SharedOptions) async throws(CommandFailure) {
    let console = Console.standard
    let configuration = try shared.configuration()
    let app = try appOption.resolve(configuration)
    let session = try await RedisSession.open(configuration, as: .dashboard)
    let kind = kind
    let sizes = try await session.ask(in: .app(app)) { stores throws(RedisError) in
      try await AudienceLookup(stores: stores).sizes(of: kind, app: app)
    }
    await session.close()
    AppOption.warn(of: app, unlessIn: configuration, on: console)
    if shared.json {
      for size in sizes {
        console.print(
          json: .object([kind.rawValue: .string(size.name), "users": .integer(size.users)]))
      }
      return
    }
    guard !sizes.isEmpty else { return console.note("\(nobody) \(app)") }
    var table = TextTable([.init(kind.rawValue.uppercased()), .init("USERS", .right)])
    for size in sizes {
      table.append([DisplayText.printable(size.name), FigureText.count(size.users)])
    }
    for line in table.lines(on: console.output) { console.print(line) }
  }
}

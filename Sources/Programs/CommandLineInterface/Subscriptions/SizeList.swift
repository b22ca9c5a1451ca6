internal import Configuration
internal import Model
internal import Redis
internal import Store
internal import Typesetting

/// The topics, or the channels, of an app and how many users are in each.
struct SizeList {
  /// What one of them is called.
  let word: String
  /// What is said, before the app's name, when there are none.
  let nobody: String
  /// The name of one of them; nil for another index.
  let name: @Sendable (AudienceIndex) -> String?

  func show(_ appOption: AppOption, _ shared: SharedOptions) async throws(CommandFailure) {
    let console = Console.standard
    let configuration = try shared.configuration()
    let app = try appOption.resolve(configuration)
    let session = try await RedisSession.open(configuration.redis, functions: false)
    let sizes = try await session.run { store throws(RedisError) in
      try await store.audiences.sizes(app: app)
    }
    await session.close()
    AppOption.warn(of: app, unlessIn: configuration, on: console)
    let named = sizes.compactMap { size in name(size.index).map { (name: $0, users: size.users) } }
    if shared.json {
      for one in named {
        console.print(json: .object([word: .string(one.name), "users": .integer(one.users)]))
      }
      return
    }
    guard !named.isEmpty else { return console.note("\(nobody) \(app)") }
    var table = TextTable([.init(word.uppercased()), .init("USERS", .right)])
    for one in named {
      table.append([DisplayText.printable(one.name), FigureText.count(one.users)])
    }
    for line in table.lines(on: console.output) { console.print(line) }
  }
}

internal import ArgumentParser
internal import Configuration
internal import Model
internal import Redis
internal import Store
internal import Typesetting

struct TopicsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "topics",
    abstract: "List the topics of an app and how many users subscribe to each.",
    discussion: """
        pushpool topics --app shop
        pushpool topics --app shop --json

      Topics that nobody subscribes to are not listed.
      """)

  @OptionGroup var appOption: AppOption
  @OptionGroup var shared: SharedOptions

  func run() async throws {
    let console = Console.standard
    let configuration = try shared.configuration()
    let app = try appOption.resolve(configuration)
    let session = try await RedisSession.open(configuration.redis, functions: false)
    let topics = try await session.run { store throws(RedisError) in
      try await store.audiences.topics(app: app)
    }
    await session.close()
    AppOption.warn(of: app, unlessIn: configuration, on: console)
    if shared.json {
      for topic in topics {
        console.print(
          json: .object(["topic": .string(topic.topic), "users": .integer(topic.users)]))
      }
      return
    }
    guard !topics.isEmpty else { return console.note("nobody subscribes to a topic of \(app)") }
    var table = TextTable([.init("TOPIC"), .init("USERS", .right)])
    for topic in topics { table.append([topic.topic, FigureText.count(topic.users)]) }
    for line in table.lines(on: console.output) { console.print(line) }
  }
}

internal import ArgumentParser
internal import Model
internal import Operations
internal import Redis
internal import Store

struct AppRemoveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Remove an app from Redis, with its secrets.",
    discussion: """
        pushpool app remove shop

      Workers let go of it within seconds. What is in flight is answered. What is left of its jobs waits for \
      worker.unrouted_seconds, and becomes dead letters then: cancel its jobs first, or let them end. Its devices stay.
      """)

  @Argument(help: "The app.") var id: String
  @OptionGroup var shared: SharedOptions

  func validate() throws { try AppName.check(id) }

  func run() async throws {
    let console = Console.standard
    let session = try await shared.openSession(as: .operator)
    let id = id
    let answer = try await session.atHome { fleet throws(RedisError) in
      try await AppOffice(fleet: fleet).remove(id)
    }
    guard answer == .removed else { throw AppName.unknown(id) }
    await session.note([Act("app.remove", app: id, subject: id)], on: console)
    await session.close()
    guard !shared.json else {
      return console.print(json: .object(["id": .string(id), "status": .string("removed")]))
    }
    console.print("\(id) is removed: no worker begins a push of it in 5 seconds from now")
  }
}

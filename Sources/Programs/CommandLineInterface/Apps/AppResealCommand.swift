internal import ArgumentParser
internal import Model
internal import Operations
internal import ProgramSetup
internal import PushpoolConfiguration
internal import Redis
internal import Store
internal import Typesetting

struct AppResealCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reseal",
    abstract: "Seal the secrets of all apps with the newest key.",
    discussion: """
        pushpool app reseal
        pushpool app reseal --json

      To replace a key: write a new one, name it first in apps_in_redis.key_files, the old one behind it, and wait until all \
      workers and servers have that. Then run this. When it has sealed all apps, take the old key out of the list. It may be \
      repeated at any time, and sends nothing differently.
      """)

  @OptionGroup var shared: SharedOptions

  func run() async throws {
    let console = Console.standard
    let configuration = try shared.configuration()
    let keys = try configuration.sealingKeys()
    let session = try await RedisSession.open(configuration, as: .operator)
    let ids = try await session.atHome { fleet throws(RedisError) in
      try await AppOffice(fleet: fleet).ids()
    }
    let bar = ProgressDisplay(label: "sealing", total: ids.count)
    var (done, already) = (0, 0)
    var refused: [(id: String, fault: AppRecordFault)] = []
    for (position, id) in ids.enumerated() {
      if Interrupts.shared.hasCome { break }
      let sealing = try await session.atHome { fleet throws(RedisError) in
        try await AppOffice(fleet: fleet).reseal(id, keys: keys)
      }
      switch sealing {
      case .done: done += 1
      case .already: already += 1
      case .gone: break
      case .refused(let fault): refused.append((id, fault))
      }
      bar.update(done: position + 1, total: ids.count)
    }
    bar.clear()
    if done > 0 {
      await session.note(
        [Act("app.reseal", subject: keys.newest.id, detail: "\(done) apps")], on: console)
    }
    await session.close()
    report(console, keys.newest.id, done, already, refused)
    if Interrupts.shared.hasCome {
      throw CommandFailure(.interrupted, "interrupted: run it again for the rest")
    }
    guard refused.isEmpty else {
      throw CommandFailure(
        .badInput, "\(refused.count) app\(refused.count == 1 ? "" : "s") could not be sealed anew")
    }
  }

  private func report(
    _ console: Console, _ key: String, _ done: Int, _ already: Int,
    _ refused: [(id: String, fault: AppRecordFault)]
  ) {
    guard !shared.json else {
      return console.print(
        json: .object([
          "key": .string(key), "sealed": .integer(done), "already": .integer(already),
          "refused": .array(
            refused.map {
              .object(["id": .string($0.id), "message": .string($0.fault.description)])
            }),
        ]))
    }
    console.print(
      "\(done) app\(done == 1 ? "" : "s") sealed with the key \(key); \(already) "
        + "\(already == 1 ? "was" : "were") already")
    for (id, fault) in refused.prefix(CommandLineLimits.rejectsShownMax) {
      console.note("\(id): \(fault.description)")
    }
  }
}

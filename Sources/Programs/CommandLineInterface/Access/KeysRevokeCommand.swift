internal import ArgumentParser
internal import Model
internal import Operations
internal import ProgramSetup
internal import Redis
internal import Store
internal import Typesetting

struct KeysRevokeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "revoke",
    abstract: "Revoke a key: every server refuses it within 5 seconds.",
    discussion: """
        pushpool keys revoke k7mq2xw5rt3a

      The browsers that were let in by the key are out as well.
      """)

  @Argument(help: "The key's id, as keys list shows it; it is also the third part of the key.")
  var id: String
  @OptionGroup var shared: SharedOptions

  func validate() throws {
    guard KeyText.isID(id) else {
      guard let key = KeyText(id) else {
        throw ValidationError(
          "\"\(DisplayText.printable(id))\" is no id of a key: it has \(KeyText.idLength) letters "
            + "and digits, see pushpool keys list.")
      }
      throw ValidationError("Give the id alone, not the whole key: \(key.id).")
    }
  }

  func run() async throws {
    let console = Console.standard
    let session = try await shared.openSession(as: .operator)
    let id = id
    let (key, wasThere) = try await session.atHome { fleet throws(RedisError) in
      let office = KeyOffice(fleet: fleet)
      let key = try await office.find(id)
      return (key, try await office.revoke(id))
    }
    guard wasThere else {
      throw CommandFailure(
        .badInput, "there is no key \(id): it was revoked before, or never made")
    }
    await session.note(
      [Act("key.revoke", app: key?.app, subject: id, detail: key?.words ?? "")],
      on: console)
    await session.close()
    guard !shared.json else {
      return console.print(json: .object(["id": .string(id), "status": .string("revoked")]))
    }
    console.print("\(id) is revoked: no server takes it in 5 seconds from now")
  }
}

internal import ArgumentParser
internal import Model
internal import Operations
internal import ProgramSetup
internal import PushpoolConfiguration
internal import Redis
internal import Store
internal import Typesetting

struct KeysCreateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "create",
    abstract: "Make a key, and show it once.",
    discussion: """
        pushpool keys create --role server --app shop --name "the shop's backend"
        pushpool keys create --role operator-act --name ann
        pushpool keys create --role admin --json | jq -r .key

      Standard output gets the key alone. Only a digest of it is kept: nobody can show it again. \
      Programs send it in the field "authorization: Bearer KEY".
      """)

  @Option(
    help: ArgumentHelp(
      "server, operator-look, operator-act or admin.", valueName: "role"),
    completion: .list(KeyRole.allCases.map(\.rawValue)))
  var role: String
  @OptionGroup var appOption: AppOption
  @Option(help: "A remark, such as who uses it.") var name = ""
  @OptionGroup var shared: SharedOptions

  func validate() throws {
    do throws(InvalidField) {
      let role = try KeyOffice.role(role)
      // An app that is not named here may be the only one of the configuration.
      guard appOption.app != nil || !role.isOfOneApp else {
        return try KeyOffice.check(role, app: "any", name: name)
      }
      try KeyOffice.check(role, app: appOption.app, name: name)
    } catch {
      throw ValidationError("--\(error.pointer.dropFirst()) \(error.message)")
    }
  }

  func run() async throws {
    let console = Console.standard
    let configuration = try shared.configuration()
    let role: KeyRole
    do throws(InvalidField) { role = try KeyOffice.role(self.role) } catch {
      throw CommandFailure(.usage, "--role \(error.message)")
    }
    let app = role.isOfOneApp ? try appOption.resolve(configuration) : nil
    let session = try await RedisSession.open(configuration, as: .operator)
    let (name, maker, nowMs) = (name, OperatorName.current, InstantText.nowMs())
    let issued = try await session.atHome { fleet throws(RedisError) in
      try await KeyOffice(fleet: fleet).create(
        role, app: app, name: name, by: maker, nowMs: nowMs)
    }
    guard let issued else {
      throw CommandFailure(
        .badInput,
        "there are \(StoreLimits.accessKeysMax) keys already: revoke those that nobody uses (pushpool "
          + "keys list)")
    }
    await session.note(
      [Act("key.create", app: app, subject: issued.key.id, detail: issued.key.words)],
      on: console)
    await session.close()
    if shared.json {
      console.print(
        json: .object(["id": .string(issued.key.id), "key": .string(issued.text.text)]))
    } else {
      console.print(issued.text.text)
      let scope = app.map { "app \($0)" } ?? "all apps"
      console.note(
        "this is shown once: a key of the role \(role.rawValue) for \(scope); pushpool keys revoke "
          + "\(issued.key.id) ends it")
    }
    if let app { AppOption.warn(of: app, unlessIn: configuration, on: console) }
  }
}

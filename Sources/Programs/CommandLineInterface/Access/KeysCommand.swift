internal import ArgumentParser

struct KeysCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keys",
    abstract: "Make, list and revoke the keys of the HTTP API and the dashboard.",
    discussion: """
        pushpool keys create --role server --app shop --name "the shop's backend"
        pushpool keys create --role operator-look --name "wall screen"
        pushpool keys list
        pushpool keys revoke k7mq2xw5rt3a

      Roles: server is for a backend, and may do everything of one app. operator-look sees everything, of \
      all apps. operator-act also pauses, cancels, retries and switches off. admin also makes and \
      revokes keys. A phone has no key: it shows a user token that your backend signs.
      """,
    subcommands: [KeysCreateCommand.self, KeysListCommand.self, KeysRevokeCommand.self],
    defaultSubcommand: KeysListCommand.self)
}

internal import ArgumentParser

struct AppCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "app",
    abstract: "Add, show, set, list and remove apps that stand in Redis.",
    discussion: """
        pushpool app add shop.yaml
        pushpool app list
        pushpool app show shop
        pushpool app set shop.yaml
        pushpool app remove shop
        pushpool app reseal

      Workers take such an app within seconds, and need no restart. They need apps_in_redis.key_files in their \
      configuration: its keys seal the secrets, and Redis never has these keys. An app of the configuration file goes before \
      one of Redis of the same name.
      """,
    subcommands: [
      AppAddCommand.self, AppListCommand.self, AppShowCommand.self, AppSetCommand.self,
      AppRemoveCommand.self, AppResealCommand.self,
    ], defaultSubcommand: AppListCommand.self)
}

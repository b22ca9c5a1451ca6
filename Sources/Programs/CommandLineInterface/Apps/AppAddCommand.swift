internal import ArgumentParser
internal import Store

struct AppAddCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Add an app: workers take it within seconds.",
    discussion: """
        pushpool app add shop.yaml
        pushpool app add shop.json --json

      The file holds one app, written as it would stand under apps in the configuration: id, apns, fcm, jpush and its rules. \
      Fields such as key_file name files; this command reads them and seals what they hold. A secret may also stand in the \
      file itself, as key, certificate, password, service_account, master_secret or proxy_password. An app that is there \
      already is refused.
      """)

  @Argument(help: "A file of YAML or JSON with one app, or - for standard input.")
  var file: String
  @OptionGroup var shared: SharedOptions

  func run() async throws {
    try await AppPutting(file: file, mode: .add, shared: shared).run()
  }
}

internal import ArgumentParser
internal import Store

struct AppSetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set",
    abstract: "Replace an app that is there.",
    discussion: """
        pushpool app set shop.yaml
        pushpool app set shop.yaml --or-add
        pushpool app show shop --json | jq '.pushes_per_second = 500' | pushpool app set -

      The file is as for app add, and is the whole app: what it leaves out is gone. An app as app show prints it in JSON may be \
      given, too. A secret that stands there as a digest and a date stays as it is, and nobody else's change is overwritten.
      """)

  @Argument(help: "A file of YAML or JSON with one app, or - for standard input.")
  var file: String
  @Flag(help: "Add the app when there is none of its name.") var orAdd = false
  @OptionGroup var shared: SharedOptions

  func run() async throws {
    try await AppPutting(file: file, mode: orAdd ? .put : .set, shared: shared).run()
  }
}

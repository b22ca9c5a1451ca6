internal import ArgumentParser
internal import Model
internal import Operations
internal import ProgramSetup
internal import PushpoolConfiguration
internal import Redis
internal import Store
internal import Typesetting

struct AppShowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show an app that stands in Redis, without its secrets.",
    discussion: """
        pushpool app show shop
        pushpool app show shop --json > shop.json

      A secret is shown by the beginning of its SHA-256, as sha256sum prints it, and by when it was set. A password is shown by \
      its date alone. Nobody can show a secret again.
      """)

  @Argument(help: "The app.") var id: String
  @OptionGroup var shared: SharedOptions

  func validate() throws { try AppName.check(id) }

  func run() async throws {
    let console = Console.standard
    let session = try await shared.openSession(as: .operator, onlyReads: true)
    let id = id
    let found = try await session.atHome { fleet throws(RedisError) in
      try await AppOffice(fleet: fleet).find(id)
    }
    await session.close()
    guard let found else { throw AppName.unknown(id) }
    let record: AppRecord
    do throws(AppRecordFault) { record = try found.record.get() } catch {
      throw CommandFailure(
        .badInput,
        "\(id) cannot be read, and workers leave it out: \(DisplayText.printable("\(error)")); set it anew with pushpool "
          + "app set, or remove it")
    }
    if shared.json { return console.print(json: .object(record.json())) }
    for line in Self.lines(record) { console.print(line) }
  }

  private static func lines(_ record: AppRecord) -> [String] {
    var lines = [
      "\(record.id), revision \(record.revision), set "
        + InstantText.local(ms: record.changedAtMs)
        + " by \(record.changedBy)"
    ]
    func add(_ object: JSONObject, _ indent: String) {
      for member in object.members {
        switch member.value {
        case .object(let inner) where inner["set_at"] != nil:
          lines.append("\(indent)\(member.name): \(secret(inner))")
        case .object(let inner):
          lines.append("\(indent)\(member.name):")
          add(inner, indent + "  ")
        case .string(let text):
          let isLong = text.contains("\n")
          lines.append("\(indent)\(member.name): \(isLong ? "\(text.utf8.count) bytes" : text)")
        default: lines.append("\(indent)\(member.name): \(member.value.text())")
        }
      }
    }
    add(record.form.json { record.secrets[$0]?.facts.json }, "  ")
    lines.append("  sealed by: \(record.keyIDs.joined(separator: ", "))")
    return lines
  }

  private static func secret(_ facts: JSONObject) -> String {
    let date = InstantText.local(ms: facts["set_at"]?.int64Value ?? 0)
    return (facts["sha256"]?.stringValue).map { "sha256 \($0)…, set \(date)" } ?? "set \(date)"
  }
}

/// The name of an app as an argument.
enum AppName {
  static func check(_ id: String) throws(ValidationError) {
    do { try TextRule.checkApp(id) } catch {
      throw ValidationError("The name of an app \(error.message).")
    }
  }

  static func unknown(_ id: String) -> CommandFailure {
    CommandFailure(
      .badInput,
      "there is no app \(id) in Redis (pushpool app list); apps of a configuration file stand there alone"
    )
  }
}

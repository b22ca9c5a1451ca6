internal import Model
internal import Operations
internal import ProgramSetup
internal import PushpoolConfiguration
internal import Store
internal import Typesetting

/// Puts the app of a file into Redis, for the commands that do.
struct AppPutting {
  let file: String
  let mode: AppRecordStore.Mode
  let shared: SharedOptions

  func run() async throws {
    let console = Console.standard
    let configuration = try shared.configuration()
    let keys = try configuration.sealingKeys()
    let app = try read()
    guard configuration.app(app.id) == nil else { throw inFile(app.id, "this configuration") }
    let session = try await RedisSession.open(configuration, as: .operator)
    let answer = try await session.put(
      AppPut(
        app.document, id: app.id, mode, keys: keys, by: OperatorName.current,
        nowMs: InstantText.nowMs()))
    let (record, word) = try result(answer, of: app)
    if let verb = verb(answer) {
      await session.note(
        [Act(verb, app: app.id, subject: app.id, detail: record.networks.joined(separator: " "))],
        on: console)
    }
    await session.close()
    if shared.json {
      console.print(
        json: .object([
          "id": .string(app.id), "status": .string(word), "revision": .string(record.revision),
        ]))
    } else {
      let networks = record.networks.joined(separator: ", ")
      console.print(
        word == "unchanged"
          ? "\(app.id) is as it was"
          : "\(app.id) is \(word) (\(networks)): each worker has it within 5 seconds")
    }
  }

  private func read() throws(CommandFailure) -> AppFile {
    let bytes = try InputFile.read(file, bytesMax: ConfigurationLimits.appDocumentBytesMax)
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw CommandFailure(.badInput, "\(InputFile.shown(file)) is not valid UTF-8")
    }
    do throws(ConfigurationError) {
      return try AppFile(text, name: InputFile.shown(file))
    } catch { throw CommandFailure(.badInput, error.description) }
  }

  /// The act to note; nil where nothing was done.
  private func verb(_ answer: AppOffice.Answer) -> String? {
    switch answer {
    case .added: "app.add"
    case .replaced: "app.set"
    default: nil
    }
  }

  private func result(
    _ answer: AppOffice.Answer, of app: AppFile
  ) throws(CommandFailure) -> (AppRecord, String) {
    let id = app.id
    switch answer {
    case .added(let record): return (record, "added")
    case .replaced(let record): return (record, "replaced")
    case .unchanged(let record): return (record, "unchanged")
    case .refused(let field):
      throw CommandFailure(.badInput, app.error(field, file: InputFile.shown(file)).description)
    case .exists:
      throw CommandFailure(
        .badInput, "there is an app \(id) already; to replace it: pushpool app set")
    case .missing:
      throw CommandFailure(
        .badInput,
        "there is no app \(id) in Redis; to add it: pushpool app add, or app set --or-add")
    case .inFile: throw inFile(id, "a worker")
    case .changed(let change):
      let look = "look at it again (pushpool app show \(id))"
      throw CommandFailure(.badInput, change.sentence(about: id, look: look))
    case .full:
      throw CommandFailure(
        .badInput,
        "there are \(ConfigurationLimits.redisAppsMax) apps in Redis already: remove those that nobody uses"
      )
    }
  }

  private func inFile(_ id: String, _ owner: String) -> CommandFailure {
    CommandFailure(
      .badInput,
      "\(id) is an app of the configuration file of \(owner), whose app counts: give this one another name, or take "
        + "that one out of the file")
  }
}

extension Configuration {
  /// The keys that seal apps of Redis.
  func sealingKeys() throws(CommandFailure) -> SealingKeys {
    do throws(ConfigurationError) {
      if let keys = try SealingKeys(self) { return keys }
    } catch { throw CommandFailure(.configuration, error.description) }
    throw CommandFailure(
      .configuration,
      "\(AppsInRedisConfiguration.keyFilesField) is missing in the configuration: apps in Redis have secrets, which a "
        + "key seals that workers have, too; make one with: openssl rand -base64 32 > apps.key")
  }
}

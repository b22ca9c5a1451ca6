internal import Model
internal import Operations
internal import PushpoolConfiguration
internal import Redis
internal import Store

/// Where the app of a preview stands, by whose settings it is rendered.
enum PreviewSource: Sendable {
  /// In the server's configuration, of which no other app has its networks.
  case file(Configuration)
  /// In Redis.
  case redis(AppRecord, SealingKeys)

  /// - Throws: 404 for an app that stands in neither, or in Redis when the server has no key to open it with.
  static func of(_ app: String, _ services: Services) async throws(Problem) -> PreviewSource {
    let configuration = services.configuration
    guard configuration.app(app) == nil else {
      // The keys of one app are loaded. The others keep their places, by which errors name them.
      var reduced = configuration
      reduced.apps = configuration.apps.map { $0.id == app ? $0 : AppConfiguration(id: $0.id) }
      return .file(reduced)
    }
    guard let keys = services.appKeys else {
      throw .notFound(
        "the configuration of this server has no app \(app): a preview is rendered with its settings"
      )
    }
    let found = try await services.atHome { fleet throws(RedisError) in
      try await AppOffice(fleet: fleet).find(app)
    }
    guard let found else {
      throw .notFound(
        "neither the configuration of this server nor Redis has an app \(app): a preview is rendered with its settings"
      )
    }
    do throws(AppRecordFault) { return .redis(try found.record.get(), keys) } catch {
      throw unusable(app, "pushpool app show says why")
    }
  }

  /// The networks that the app has settings for, each with an environment that it has there.
  var networks: [(Network, PushEnvironment)] {
    switch self {
    case .file(let configuration):
      configuration.apps.flatMap { $0.networks.accounts }.map {
        ($0.network, $0.environment ?? .production)
      }
    case .redis(let record, _):
      record.form.accounts.map { ($0.network, $0.environment ?? .production) }
    }
  }

  /// The app with its secrets read. It may take long.
  func load(_ app: String) throws(Problem) -> PreviewedApp {
    switch self {
    case .file(let configuration):
      do throws(ConfigurationError) { return try PreviewedApp(app, of: configuration) } catch {
        // Its text names files of this machine.
        throw Self.unusable(app, "pushpool check on the server's machine says why")
      }
    case .redis(let record, let keys):
      do throws(InvalidField) { return try PreviewedApp(record, keys: keys) } catch {
        throw Self.unusable(app, "its alarm left_out says why")
      }
    }
  }

  private static func unusable(_ app: String, _ hint: String) -> Problem {
    Problem(500, "internal error", "the settings of app \(app) cannot be used: \(hint)")
  }
}

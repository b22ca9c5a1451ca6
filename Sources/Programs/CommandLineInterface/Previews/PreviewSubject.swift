internal import Model
internal import Operations
internal import ProgramSetup
internal import PushpoolConfiguration
internal import Redis
internal import Store
internal import Typesetting

/// Whom a preview is asked for, checked.
enum PreviewSubject {
  case user(String)
  /// The token as it is stored, once for each network that could have it.
  case token([DeviceToken])
  case anyDevice(Network, PushEnvironment)

  /// - Parameter options: with `--dry-run`, validated.
  init(_ options: PreviewOptions) throws(CommandFailure) {
    if let user = options.user {
      try UserOption.check(user)
      self = .user(user)
    } else if let token = options.token {
      do throws(InvalidField) { self = .token(try DeviceToken.candidates(token)) } catch {
        throw TokenOption.failure(error)
      }
    } else if let network = options.network {
      self = .anyDevice(network, options.environment ?? .production)
    } else {
      throw CommandFailure(.internalError, "a preview without anybody to make it for")
    }
  }

  /// The devices that there are, and what their user's texts are filled in with, by Redis where it takes that.
  func receivers(
    of job: Job, _ configuration: Configuration
  ) async throws(CommandFailure) -> (targets: [PreviewTarget], values: ReceiverValues) {
    if case .anyDevice(let network, let environment) = self {
      return ([.anyDevice(network, environment)], .values([:]))
    }
    let session = try await session(configuration)
    let (found, values) = try await session.ask(in: .app(job.app)) { stores throws(RedisError) in
      let found = try await installations(app: job.app, InstallationLookup(stores: stores))
      let user = found.first?.installation.user
      return (found, try await ReceiverValues.read(for: user, of: job, in: stores))
    }
    await session.close()
    return (found.map { .installation($0.installation) }, values)
  }

  private func session(
    _ configuration: Configuration
  ) async throws(CommandFailure) -> RedisSession {
    do throws(CommandFailure) {
      return try await RedisSession.open(configuration, as: .reader)
    } catch {
      guard error.status == .unavailable else { throw error }
      throw CommandFailure(
        .unavailable,
        "\(error.description); or ask for any device of a network, which needs no Redis: --network")
    }
  }

  private func installations(
    app: String, _ lookup: InstallationLookup
  ) async throws(RedisError) -> [StoredInstallation] {
    switch self {
    case .user(let user): return try await lookup.devices(app: app, user: user)
    case .token(let tokens):
      for token in tokens {
        if let found = try await lookup.installation(app: app, token: token) { return [found] }
      }
      return []
    case .anyDevice: return []
    }
  }

  /// Says that there is nobody.
  func absence(app: String) -> String {
    switch self {
    case .user(let user):
      "user \(DisplayText.printable(user)) of \(app) has no installations: nothing would be sent"
    case .token: "no installation of \(app) has this token: nothing would be sent"
    case .anyDevice: "nothing would be sent"
    }
  }
}

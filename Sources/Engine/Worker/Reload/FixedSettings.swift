internal import Model
internal import PushpoolConfiguration
internal import Reactor
internal import Store

/// The settings that a worker keeps for as long as it runs: where Redis is, its lanes and their times. Only digests are kept, for
/// there are passwords among them.
struct FixedSettings: Sendable {
  /// A setting by what it is of, since its place in the configuration may be another one there.
  private struct Setting {
    let key: String
    let name: String
    let digest: String
  }

  private let settings: [Setting]
  /// The shard that each app lives in.
  private var placement: [String: String]

  init(_ configuration: Configuration) {
    let worker = configuration.worker
    let shards = configuration.shards
    func setting(_ name: String, _ text: [UInt8], of shard: String = "") -> Setting {
      let key = shard.isEmpty ? name : "\(shard) \(name.split(separator: ".").last ?? "")"
      return Setting(key: key, name: name, digest: ContentDigest.of(text))
    }
    let others: [(String, String)] = [
      ("redis.shards", shards.ids.map(\.name).sorted().joined(separator: " ")),
      ("redis.home", shards.home.name),
      ("worker.lanes", "\(worker.lanes)"),
      ("worker.connections_per_lane", "\(worker.connectionsPerLane)"),
      ("worker.streams_per_connection", "\(worker.streamsPerConnection)"),
      ("worker.drain_seconds", "\(worker.drainSeconds)"),
      ("worker.lease_seconds", "\(worker.leaseSeconds)"),
      ("worker.request_timeout_seconds", "\(worker.requestTimeoutSeconds)"),
      ("log.format", configuration.log.format.rawValue),
    ]
    settings =
      shards.all.flatMap { shard in
        Self.texts(of: shard.redis).map { setting($0, Array($1.utf8), of: shard.id.name) }
      } + others.map { setting($0, Array($1.utf8)) }
      + shards.all.flatMap { shard in
        Self.files(of: shard.redis).map {
          setting($0, Self.content(of: $1), of: shard.id.name)
        }
      }
    let table = configuration.placement
    placement = Dictionary(
      configuration.apps.map { ($0.id, table[$0.id].name) }, uniquingKeysWith: { one, _ in one })
  }

  private static func texts(of redis: RedisConfiguration) -> [(String, String)] {
    let (section, url) = (redis.section, redis.url)
    return [
      ("\(section).url", "\(url) \(url.database) \(url.user ?? "") \(url.password?.text ?? "")"),
      ("\(section).prefix", redis.prefix),
      (
        "\(section).accepted_risks",
        redis.acceptedRisks.map(\.rawValue).sorted().joined(separator: " ")
      ),
      ("\(section).sentinel_user", redis.sentinel.user ?? ""),
    ]
  }

  private static func files(of redis: RedisConfiguration) -> [(String, String?)] {
    let (section, sentinel) = (redis.section, redis.sentinel)
    return [
      ("\(section).password_file", redis.passwordFile), ("\(section).ca_file", redis.caFile),
      ("\(section).sentinel_password_file", sentinel.passwordFile),
      ("\(section).sentinel_ca_file", sentinel.caFile),
    ]
  }

  /// The content counts and not the path: a Secret of Kubernetes is replaced as a whole when one of its keys is.
  private static func content(of file: String?) -> [UInt8] {
    guard let file else { return [] }
    do throws(CredentialFileError) {
      return try CredentialFile.read(file, bytesMax: ReactorLimits.authoritiesFileBytesMax)
    } catch { return Array(error.description.utf8) }
  }

  /// Keeps to where new apps of a later configuration live, as the lanes do from then on.
  mutating func holdNewApps(of other: FixedSettings) {
    placement.merge(other.placement) { own, _ in own }
  }

  /// The settings that another configuration has differently, as they are named there. A shard that only one of them has is told
  /// by the list alone.
  func names(differingIn other: FixedSettings) -> [String] {
    let its = Dictionary(other.settings.map { ($0.key, $0) }, uniquingKeysWith: { one, _ in one })
    let names = settings.compactMap { own in
      its[own.key].flatMap { $0.digest == own.digest ? nil : $0.name }
    }
    let hasMoved = placement.contains { app, shard in
      other.placement[app].map { $0 != shard } ?? false
    }
    return names + (hasMoved ? ["apps[].shard"] : [])
  }
}

internal import Model
internal import PushpoolConfiguration
internal import Reactor
internal import Store

/// The settings that a worker keeps for as long as it runs: where Redis is, its lanes and their times. Only digests are kept, for
/// there are passwords among them.
struct FixedSettings: Sendable {
  private let digests: [(String, String)]
  /// The shard that each app lives in.
  private let placement: [String: String]

  init(_ configuration: Configuration) {
    let worker = configuration.worker
    let shards = configuration.shards
    var texts = shards.all.flatMap { Self.texts(of: $0.redis) }
    if shards.all.contains(where: { $0.redis.section != RedisConfiguration.usualSection }) {
      texts.append(("redis.shards", shards.ids.map(\.name).joined(separator: " ")))
      texts.append(("redis.home", shards.home.name))
    }
    texts += [
      ("worker.lanes", "\(worker.lanes)"),
      ("worker.connections_per_lane", "\(worker.connectionsPerLane)"),
      ("worker.streams_per_connection", "\(worker.streamsPerConnection)"),
      ("worker.drain_seconds", "\(worker.drainSeconds)"),
      ("worker.lease_seconds", "\(worker.leaseSeconds)"),
      ("worker.request_timeout_seconds", "\(worker.requestTimeoutSeconds)"),
      ("log.format", configuration.log.format.rawValue),
    ]
    let files = shards.all.flatMap { Self.files(of: $0.redis) }
    let ofTexts = texts.map { name, text in (name, ContentDigest.of(Array(text.utf8))) }
    let ofFiles = files.map { name, file in (name, ContentDigest.of(Self.content(of: file))) }
    digests = ofTexts + ofFiles
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

  /// The settings that another configuration has differently. A shard that only one of them has is told by the list alone.
  func names(differingIn other: FixedSettings) -> [String] {
    let its = Dictionary(other.digests, uniquingKeysWith: { one, _ in one })
    let names = digests.compactMap { name, digest in
      its[name].map { $0 == digest } ?? true ? nil : name
    }
    let hasMoved = placement.contains { app, shard in
      other.placement[app].map { $0 != shard } ?? false
    }
    return names + (hasMoved ? ["apps[].shard"] : [])
  }
}

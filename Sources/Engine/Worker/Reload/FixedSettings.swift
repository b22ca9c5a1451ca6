internal import Model
internal import PushpoolConfiguration
internal import Reactor
internal import Store

/// The settings that a worker keeps for as long as it runs: where Redis is, its lanes and their times. Only digests are kept, for
/// there are passwords among them.
struct FixedSettings: Sendable {
  private let digests: [(String, String)]

  init(_ configuration: Configuration) {
    let (redis, worker) = (configuration.redis, configuration.worker)
    let (url, sentinel) = (redis.url, redis.sentinel)
    let texts: [(String, String)] = [
      ("redis.url", "\(url) \(url.database) \(url.user ?? "") \(url.password?.text ?? "")"),
      ("redis.prefix", redis.prefix),
      ("redis.accepted_risks", redis.acceptedRisks.map(\.rawValue).sorted().joined(separator: " ")),
      ("redis.sentinel_user", sentinel.user ?? ""),
      ("worker.lanes", "\(worker.lanes)"),
      ("worker.connections_per_lane", "\(worker.connectionsPerLane)"),
      ("worker.streams_per_connection", "\(worker.streamsPerConnection)"),
      ("worker.drain_seconds", "\(worker.drainSeconds)"),
      ("worker.lease_seconds", "\(worker.leaseSeconds)"),
      ("worker.request_timeout_seconds", "\(worker.requestTimeoutSeconds)"),
      ("log.format", configuration.log.format.rawValue),
    ]
    let files = [
      ("redis.password_file", redis.passwordFile), ("redis.ca_file", redis.caFile),
      ("redis.sentinel_password_file", sentinel.passwordFile),
      ("redis.sentinel_ca_file", sentinel.caFile),
    ]
    let ofTexts = texts.map { name, text in (name, ContentDigest.of(Array(text.utf8))) }
    let ofFiles = files.map { name, file in (name, ContentDigest.of(Self.content(of: file))) }
    digests = ofTexts + ofFiles
  }

  /// The content counts and not the path: a Secret of Kubernetes is replaced as a whole when one of its keys is.
  private static func content(of file: String?) -> [UInt8] {
    guard let file else { return [] }
    do throws(CredentialFileError) {
      return try CredentialFile.read(file, bytesMax: ReactorLimits.authoritiesFileBytesMax)
    } catch { return Array(error.description.utf8) }
  }

  /// The settings that another configuration has differently.
  func names(differingIn other: FixedSettings) -> [String] {
    zip(digests, other.digests).compactMap { own, its in own.1 == its.1 ? nil : own.0 }
  }
}

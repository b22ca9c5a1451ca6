package import PushpoolConfiguration
internal import Reactor
package import Redis

extension RedisEndpoint {
  /// The server that the configuration names.
  /// - Throws: when a password file cannot be read, or a file with certificates of the sentinels' authorities.
  package init(_ configuration: RedisConfiguration) throws(ConfigurationError) {
    let place: RedisPlace
    var usesTLS = false
    switch configuration.url.server {
    case .tcp(let host, let port, let tls):
      place = .server(.tcp(host: host, port: port))
      usesTLS = tls
    case .unix(let path): place = .server(.unix(path: path))
    case .cluster(let hosts, let tls):
      place = .cluster(seeds: Self.endpoints(hosts))
      usesTLS = tls
    case .sentinels(let hosts, let master, let tls):
      place = .sentinels(
        try Self.group(Self.endpoints(hosts), master: master, tls: tls, configuration))
      usesTLS = tls
    }
    self.init(
      place: place, tls: usesTLS, caFile: configuration.caFile,
      user: configuration.url.user, password: try configuration.password()?.text,
      database: configuration.url.database, slotKey: configuration.prefix)
  }

  private static func endpoints(_ hosts: [HostAndPort]) -> [Endpoint] {
    hosts.map { .tcp(host: $0.host, port: $0.port) }
  }

  private static func group(
    _ sentinels: [Endpoint], master: String, tls: Bool, _ configuration: RedisConfiguration
  ) throws(ConfigurationError) -> SentinelGroup {
    let login = configuration.sentinel
    let password = try login.password(in: configuration.section)?.text
    do throws(TLSError) {
      return try SentinelGroup(
        sentinels: sentinels, master: master, tls: tls,
        caFile: login.caFile ?? configuration.caFile, user: login.user, password: password)
    } catch {
      let field = login.caFile == nil ? "ca_file" : "sentinel_ca_file"
      throw ConfigurationError(
        file: "configuration", line: nil, field: "\(configuration.section).\(field)",
        message: "\(error)")
    }
  }
}

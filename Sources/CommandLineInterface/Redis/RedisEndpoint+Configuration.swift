internal import Configuration
internal import Reactor
internal import Redis

extension RedisEndpoint {
  /// Where the configuration says that Redis is, with the password of its file.
  init(_ configuration: RedisConfiguration) throws(ConfigurationError) {
    let password = try configuration.password()
    self.init(
      endpoint: .unix(path: ""), caFile: configuration.caFile, user: configuration.url.user,
      password: password?.text, database: configuration.url.database, clientName: "pushpool-cli")
    switch configuration.url.server {
    case .tcp(let host, let port, let tls):
      endpoint = .tcp(host: host, port: port)
      self.tls = tls
    case .unix(let path):
      endpoint = .unix(path: path)
    }
  }
}

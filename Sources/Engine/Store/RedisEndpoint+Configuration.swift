package import Configuration
internal import Reactor
package import Redis

extension RedisEndpoint {
  /// The server that the configuration names.
  /// - Throws: when the password file cannot be read.
  package init(_ configuration: RedisConfiguration) throws(ConfigurationError) {
    let endpoint: Endpoint
    var usesTLS = false
    switch configuration.url.server {
    case .tcp(let host, let port, let tls):
      endpoint = .tcp(host: host, port: port)
      usesTLS = tls
    case .unix(let path): endpoint = .unix(path: path)
    }
    self.init(
      endpoint: endpoint, tls: usesTLS, caFile: configuration.caFile,
      user: configuration.url.user, password: try configuration.password()?.text,
      database: configuration.url.database, slotKey: configuration.prefix)
  }
}

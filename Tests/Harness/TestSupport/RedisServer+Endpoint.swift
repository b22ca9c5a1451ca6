package import LocalServices
import Reactor
package import Redis

extension RedisServer {
  package nonisolated var endpoint: RedisEndpoint {
    RedisEndpoint(endpoint: .unix(path: socketPath))
  }
}

import Dispatch
@testable import Reactor
import Synchronization

/// Stands in for getaddrinfo(3): names with their addresses, some of whose name servers stay silent until they are
/// released.
final class ScriptedNames: Sendable {
  private struct State {
    var addresses: [String: [String]] = [:]
    var silent: [String: DispatchSemaphore] = [:]
    var asked: [String] = []
  }

  private let state = Mutex(State())

  init(_ addresses: [String: [String]] = [:], silent: Set<String> = []) {
    state.withLock { state in
      state.addresses = addresses
      for host in silent { state.silent[host] = DispatchSemaphore(value: 0) }
    }
  }

  /// The hosts that were looked up, in their order.
  var asked: [String] { state.withLock { $0.asked } }

  /// Lets one look-up of the host go on.
  func release(_ host: String) { state.withLock { $0.silent[host] }?.signal() }

  func lookUp(_ host: String) -> Resolver.Answer {
    let (silence, addresses) = state.withLock { state in
      state.asked.append(host)
      return (state.silent[host], state.addresses[host])
    }
    silence?.wait()
    guard let addresses else { return .failure(.resolve(host: host, reason: "no such name")) }
    return .success(
      addresses.flatMap {
        (try? SocketAddress.lookUp(host: $0, port: 0, numericOnly: true).get()) ?? []
      })
  }

  func resolver(threadsMax: Int) -> Resolver {
    Resolver(threadsMax: threadsMax) { [self] in lookUp($0) }
  }
}

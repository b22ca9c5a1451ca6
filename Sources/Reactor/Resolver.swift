internal import Glibc
internal import Synchronization

/// Looks up host names on a thread of its own, since getaddrinfo(3) blocks.
final class Resolver: Sendable {
  static let shared = Resolver()

  private struct Request {
    let host: String
    let port: UInt16
    let answer: @Sendable (Result<[SocketAddress], StreamFailure>) -> Void
  }

  private struct Queue {
    var requests: [Request] = []
    var isRunning = false
  }

  private let queue = Mutex(Queue())

  /// Calls `answer` on the resolver's thread, or at once when the host is an address already or too
  /// many look-ups wait.
  func resolve(
    host: String, port: UInt16,
    answer: @escaping @Sendable (Result<[SocketAddress], StreamFailure>) -> Void
  ) {
    let numeric = SocketAddress.lookUp(host: host, port: port, numericOnly: true)
    if case .success = numeric { return answer(numeric) }
    let request = Request(host: host, port: port, answer: answer)
    enum Action { case none, start, refuse }
    let action = queue.withLock { queue -> Action in
      guard queue.requests.count < ReactorLimits.resolverQueueMax else { return .refuse }
      queue.requests.append(request)
      defer { queue.isRunning = true }
      return queue.isRunning ? .none : .start
    }
    switch action {
    case .none: return
    case .refuse: answer(.failure(.resolve(host: host, reason: "too many look-ups are waiting")))
    case .start:
      var thread = pthread_t()
      pthread_create(&thread, nil, runResolver, Unmanaged.passUnretained(self).toOpaque())
      pthread_detach(thread)
    }
  }

  /// Works until nothing waits; the next request then starts a new thread.
  fileprivate func work() {
    while true {
      let next = queue.withLock { queue -> Request? in
        guard !queue.requests.isEmpty else {
          queue.isRunning = false
          return nil
        }
        return queue.requests.removeFirst()
      }
      guard let next else { return }
      next.answer(SocketAddress.lookUp(host: next.host, port: next.port, numericOnly: false))
    }
  }
}

private func runResolver(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  Unmanaged<Resolver>.fromOpaque(context!).takeUnretainedValue().work()
  return nil
}

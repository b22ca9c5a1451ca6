internal import Glibc
internal import Reactor

/// Runs a closure on a loop and waits for its result.
enum LoopCall {
  /// The result on its way from the loop's thread; the semaphore orders the accesses.
  private final class Mailbox<Value>: @unchecked Sendable {
    var value: Value?
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() { sem_init(semaphore, 0, 0) }

    deinit {
      sem_destroy(semaphore)
      semaphore.deallocate()
    }

    func put(_ value: Value) {
      self.value = value
      sem_post(semaphore)
    }

    func take() -> Value {
      while sem_wait(semaphore) != 0 && errno == EINTR {}
      return value!
    }
  }

  /// - Precondition: the loop runs, and the caller is not on it.
  static func wait<Value>(
    on loop: EventLoop, _ body: @escaping @Sendable () -> Value
  ) -> Value {
    let mailbox = Mailbox<Value>()
    loop.execute { mailbox.put(body()) }
    return mailbox.take()
  }
}

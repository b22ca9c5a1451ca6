import CCurl
import Glibc
import Synchronization

/// The thread that drives all transfers of a client through one libcurl multi handle.
///
/// Everything but `shared` belongs to the thread. `curl_multi_wakeup` is the one libcurl call that
/// other threads may make, and the handle lives until the last reference is gone.
final class TransferThread: @unchecked Sendable {
  private struct Shared {
    var queue: [Transfer] = []
    var outstanding = 0
    var thread: pthread_t?
    var isStopped = false
  }

  private let multi: UnsafeMutableRawPointer
  private let shared = Mutex(Shared())
  private var running: [UnsafeMutableRawPointer: Transfer] = [:]
  /// Posted when the thread has told of all transfers.
  private let hasEnded = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

  init() {
    sem_init(hasEnded, 0, 0)
    CurlLibrary.initialise()
    guard let multi = curl_multi_init() else { preconditionFailure("out of memory") }
    self.multi = multi
    _ = ccurl_multi_setopt_long(
      multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, HTTPClientLimits.connectionsMax)
    _ = ccurl_multi_setopt_long(multi, CURLMOPT_MAXCONNECTS, HTTPClientLimits.connectionsMax)
  }

  deinit {
    curl_multi_cleanup(multi)
    sem_destroy(hasEnded)
    hasEnded.deallocate()
  }

  /// Any thread.
  func submit(_ transfer: Transfer) {
    let refusal: HTTPClientError? = shared.withLock { shared in
      if shared.isStopped { return HTTPClientError(.closed, "the HTTP client is shut down") }
      if shared.outstanding == HTTPClientLimits.requestsMax {
        return HTTPClientError(
          .busy, "\(HTTPClientLimits.requestsMax) HTTP requests are under way already")
      }
      if shared.thread == nil {
        guard let thread = start() else {
          return HTTPClientError(.busy, "no thread can be started")
        }
        shared.thread = thread
      }
      shared.outstanding += 1
      shared.queue.append(transfer)
      return nil
    }
    if let refusal {
      transfer.complete(.failure(refusal))
    } else {
      curl_multi_wakeup(multi)
    }
  }

  /// Ends the thread and waits until it has told of all transfers; not for long, since libcurl may itself wait for a
  /// look-up of a name. Any thread, any number of times.
  func stop() {
    let thread = shared.withLock { shared in
      shared.isStopped = true
      // A second caller would wait for a thread that is gone.
      defer { shared.thread = nil }
      return shared.thread
    }
    curl_multi_wakeup(multi)
    guard let thread else { return }
    var deadline = timespec()
    clock_gettime(CLOCK_REALTIME, &deadline)
    deadline.tv_sec += HTTPClientLimits.stopSeconds
    let isSelf = pthread_equal(thread, pthread_self()) != 0
    if isSelf || sem_timedwait(hasEnded, &deadline) != 0 {
      pthread_detach(thread)
    } else {
      pthread_join(thread, nil)
    }
  }

  private func start() -> pthread_t? {
    var thread = pthread_t()
    let context = Unmanaged.passRetained(self)
    guard pthread_create(&thread, nil, runTransfers, context.toOpaque()) == 0 else {
      context.release()
      return nil
    }
    return thread
  }

  fileprivate func run() {
    while takeQueue() {
      var active: CInt = 0
      curl_multi_perform(multi, &active)
      finishDone()
      // libcurl shortens the wait to its own next timeout; submit and stop wake it.
      curl_multi_poll(multi, nil, 0, 60_000, nil)
    }
    let closed = HTTPClientError(.closed, "the HTTP client was shut down")
    for (handle, transfer) in running {
      curl_multi_remove_handle(multi, handle)
      transfer.complete(.failure(closed))
    }
    running.removeAll()
    sem_post(hasEnded)
  }

  /// Starts what was submitted; false when the thread shall end.
  private func takeQueue() -> Bool {
    let (queue, isStopped) = shared.withLock { shared in
      defer { shared.queue.removeAll() }
      return (shared.queue, shared.isStopped)
    }
    for transfer in queue {
      if isStopped {
        finish(transfer, .failure(HTTPClientError(.closed, "the HTTP client was shut down")))
        continue
      }
      do throws(HTTPClientError) {
        let handle = try transfer.prepare()
        running[handle] = transfer
        curl_multi_add_handle(multi, handle)
      } catch {
        finish(transfer, .failure(error))
      }
    }
    return !isStopped
  }

  private func finishDone() {
    var remaining: CInt = 0
    while let message = curl_multi_info_read(multi, &remaining) {
      guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle else {
        continue
      }
      let code = message.pointee.data.result
      curl_multi_remove_handle(multi, handle)
      if let transfer = running.removeValue(forKey: handle) {
        finish(transfer, transfer.result(code))
      }
    }
  }

  private func finish(_ transfer: Transfer, _ result: Result<HTTPResponse, HTTPClientError>) {
    shared.withLock { $0.outstanding -= 1 }
    transfer.complete(result)
  }
}

private func runTransfers(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context else { return nil }
  Unmanaged<TransferThread>.fromOpaque(context).takeRetainedValue().run()
  return nil
}

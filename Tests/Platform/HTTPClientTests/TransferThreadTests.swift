import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import HTTPClient

@Suite struct TransferThreadTests {
  @Test("when a client has ended, all that was under way has been told of and its thread is gone")
  func ends() {
    let gate = DispatchSemaphore(value: 0)
    let silent = LocalServer { _ in
      gate.wait()
      return ""
    }
    defer { silent.close() }
    defer { gate.signal() }
    let told = Mutex(false)
    let thread = TransferThread()
    thread.submit(
      Transfer(HTTPRequest(url: "http://127.0.0.1:\(silent.port)/", timeoutMs: 60_000)) { result in
        told.withLock { $0 = (try? result.get()) == nil }
      })
    thread.stop()
    #expect(told.withLock { $0 })
    // Nobody is there to wait for any more.
    thread.stop()
  }
}

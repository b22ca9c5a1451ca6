import CLinux
import Dispatch
import Glibc
import Synchronization

/// The output that a child writes to a pipe, line by line. A thread drains the pipe, so the child never blocks; of
/// output that nobody reads, the oldest is dropped beyond ``unreadBytesMax``.
package final class ChildOutput: Sendable {
  /// How much unread output is kept.
  package static let unreadBytesMax = 1 << 20

  private struct State {
    var unread: [UInt8] = []
    /// How many bytes of `unread` are known to hold no line end.
    var searched = 0
    var hasEnded = false
    var waiters = Waiters<Void>()

    mutating func takeLine() -> String? {
      if let end = unread[searched...].firstIndex(of: UInt8(ascii: "\n")) {
        let line = String(decoding: unread[..<end], as: UTF8.self)
        unread.removeSubrange(...end)
        searched = 0
        return line
      }
      searched = unread.count
      guard hasEnded, !unread.isEmpty else { return nil }
      return takeAll()
    }

    mutating func takeAll() -> String {
      defer {
        unread = []
        searched = 0
      }
      return String(decoding: unread, as: UTF8.self)
    }
  }

  private let descriptor: CInt
  private let state = Mutex(State())

  /// Takes over a pipe's reading end.
  init(descriptor: CInt) {
    self.descriptor = descriptor
    var thread = pthread_t()
    let retained = Unmanaged.passRetained(self)
    guard pthread_create(&thread, nil, drainChildOutput, retained.toOpaque()) == 0 else {
      retained.release()
      close(descriptor)
      state.withLock { $0.hasEnded = true }
      return
    }
    pthread_detach(thread)
  }

  /// The next line without its end; nil when the output has ended, or none came in that time.
  package func nextLine(timeoutMs: UInt64) async -> String? {
    let deadline = DispatchTime.now() + .milliseconds(Int(timeoutMs))
    while true {
      let (line, hasEnded) = state.withLock { ($0.takeLine(), $0.hasEnded) }
      if line != nil || hasEnded || DispatchTime.now() >= deadline { return line }
      await waitForMore(until: deadline)
    }
  }

  /// The first line that holds `text`, dropping those before it; nil as in ``nextLine(timeoutMs:)``.
  package func nextLine(containing text: String, timeoutMs: UInt64) async -> String? {
    let deadline = DispatchTime.now() + .milliseconds(Int(timeoutMs))
    while true {
      let now = DispatchTime.now()
      guard now < deadline else { return nil }
      let leftMs = (deadline.uptimeNanoseconds - now.uptimeNanoseconds) / 1_000_000 + 1
      guard let line = await nextLine(timeoutMs: leftMs) else { return nil }
      if line.contains(text) { return line }
    }
  }

  /// All that is unread once the output has ended, or of what came in that time.
  package func rest(timeoutMs: UInt64) async -> String {
    let deadline = DispatchTime.now() + .milliseconds(Int(timeoutMs))
    while !state.withLock({ $0.hasEnded }), DispatchTime.now() < deadline {
      await waitForMore(until: deadline)
    }
    return state.withLock { $0.takeAll() }
  }

  private func waitForMore(until deadline: DispatchTime) async {
    await withCheckedContinuation { continuation in
      let id: UInt64? = state.withLock { state in
        let hasNews = state.hasEnded || state.searched < state.unread.count
        return hasNews ? nil : state.waiters.add(continuation)
      }
      guard let id else { return continuation.resume() }
      DispatchQueue.global().asyncAfter(deadline: deadline) {
        self.state.withLock { $0.waiters.take(id) }?.resume()
      }
    }
  }

  fileprivate func drain() {
    clinux_name_thread("child output")
    let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 1)
    defer { chunk.deallocate() }
    while true {
      let count = read(descriptor, chunk.baseAddress, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      append(UnsafeRawBufferPointer(rebasing: chunk[..<count]))
    }
    close(descriptor)
    let waiting = state.withLock { state in
      state.hasEnded = true
      return state.waiters.takeAll()
    }
    for continuation in waiting { continuation.resume() }
  }

  private func append(_ bytes: UnsafeRawBufferPointer) {
    let waiting = state.withLock { state in
      state.unread.append(contentsOf: bytes)
      let excess = state.unread.count - ChildOutput.unreadBytesMax
      if excess > 0 {
        state.unread.removeFirst(excess)
        state.searched = max(0, state.searched - excess)
      }
      return state.waiters.takeAll()
    }
    for continuation in waiting { continuation.resume() }
  }
}

private func drainChildOutput(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  Unmanaged<ChildOutput>.fromOpaque(argument!).takeRetainedValue().drain()
  return nil
}

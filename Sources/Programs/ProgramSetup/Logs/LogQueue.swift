internal import Dispatch
internal import Glibc
internal import Reactor
internal import Synchronization

/// Log lines on their way to a descriptor, written by a thread of their own.
///
/// Whoever logs never waits for whoever reads the log: a terminal that is stopped (Ctrl-S) or a collector that hangs
/// blocks that thread only. What does not fit meanwhile is dropped and counted, and a line says so when the log is
/// read again.
final class LogQueue: Sendable {
  private struct State {
    var lines: [String] = []
    /// Bytes of the lines that are not written yet, the one that is being written included.
    var bytes = 0
    var dropped = 0
    /// Whether the thread has been woken and has not looked yet.
    var isWoken = false
    /// The callers that wait until everything is written.
    var waiting = 0
  }

  private let descriptor: CInt
  private let bytesMax: Int
  private let remark: @Sendable (Int) -> String
  private let state = Mutex(State())
  private let filled = DispatchSemaphore(value: 0)
  private let emptied = DispatchSemaphore(value: 0)

  /// - Parameters:
  ///   - bytesMax: of the lines that wait to be written.
  ///   - remark: the line that says how many were dropped.
  init(descriptor: CInt, bytesMax: Int, remark: @escaping @Sendable (Int) -> String) {
    self.descriptor = descriptor
    self.bytesMax = bytesMax
    self.remark = remark
  }

  /// Begins to write, until the process ends.
  func start() throws(SystemError) {
    try SystemThread.start("the thread that writes the log") { [self] in run() }.detach()
  }

  /// Queues a line, or drops it when too much waits already. Never blocks.
  func append(_ line: String) {
    let wakes = state.withLock { state in
      // Once lines were dropped, room is made for more than one before the next are taken.
      let room = state.dropped > 0 ? bytesMax / 2 : bytesMax
      defer { state.isWoken = true }
      guard state.bytes + line.utf8.count < room else {
        // The thread is woken for this, too: it says so when it has written the rest.
        state.dropped += 1
        return !state.isWoken
      }
      if state.dropped > 0 { Self.add(remark(state.dropped), to: &state) }
      state.dropped = 0
      Self.add(line, to: &state)
      return !state.isWoken
    }
    if wakes { filled.signal() }
  }

  /// Waits until all that was appended is written, or for so long.
  func flush(withinMs: Int) {
    let mustWait = state.withLock { state in
      guard state.bytes > 0 || state.dropped > 0 else { return false }
      state.waiting += 1
      return true
    }
    guard mustWait, emptied.wait(timeout: .now() + .milliseconds(withinMs)) == .timedOut else {
      return
    }
    state.withLock { if $0.waiting > 0 { $0.waiting -= 1 } }
  }

  private static func add(_ line: String, to state: inout State) {
    state.lines.append(line)
    state.bytes += line.utf8.count + 1
  }

  private func run() {
    while true {
      filled.wait()
      state.withLock { $0.isWoken = false }
      while let lines = takeLines() {
        for line in lines {
          write(line)
          state.withLock { $0.bytes -= line.utf8.count + 1 }
        }
      }
    }
  }

  /// - Returns: nil when everything is written.
  private func takeLines() -> [String]? {
    let (lines, waiting) = state.withLock { state -> ([String]?, Int) in
      // Nobody may log again for long.
      if state.lines.isEmpty, state.dropped > 0 {
        Self.add(remark(state.dropped), to: &state)
        state.dropped = 0
      }
      guard state.lines.isEmpty else {
        defer { state.lines.removeAll() }
        return (state.lines, 0)
      }
      defer { state.waiting = 0 }
      return (nil, state.waiting)
    }
    for _ in 0..<waiting { emptied.signal() }
    return lines
  }

  /// A line goes out in one write, so that lines of several processes do not mix.
  private func write(_ line: String) {
    var line = line + "\n"
    line.withUTF8 { bytes in
      var rest = UnsafeRawBufferPointer(bytes)
      while !rest.isEmpty {
        let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
        if count > 0 {
          rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        } else if errno == EAGAIN {
          // Somebody who shares the descriptor made it non-blocking.
          var wish = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          poll(&wish, 1, -1)
        } else if errno != EINTR {
          return
        }
      }
    }
  }
}

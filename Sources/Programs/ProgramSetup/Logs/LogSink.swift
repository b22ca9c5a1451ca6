internal import Glibc
internal import Reactor
internal import Synchronization

/// Standard error as the place of log lines.
package enum LogSink {
  /// Bytes that wait to be written at most, some thousand lines.
  static let bytesMax = 1 << 20
  /// How long a process that ends waits for somebody to read its last lines.
  static let lastWordsMs = 1_000

  private static let queue = Mutex<LogQueue?>(nil)

  /// Begins to write what is logged.
  /// - Parameter remark: the line that says how many lines were dropped because nobody read them.
  static func start(remark: @escaping @Sendable (Int) -> String) throws(SystemError) {
    let started = LogQueue(descriptor: STDERR_FILENO, bytesMax: bytesMax, remark: remark)
    try started.start()
    queue.withLock { $0 = started }
  }

  static func write(_ line: String) {
    queue.withLock { $0 }?.append(line)
  }

  /// Waits until everything is written, for a moment at most.
  package static func flush() {
    queue.withLock { $0 }?.flush(withinMs: lastWordsMs)
  }
}

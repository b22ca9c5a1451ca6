internal import Glibc
internal import ProgramSetup
internal import Synchronization

/// A terminal while it shows a screen that is painted again and again. What it was before comes back however the program
/// ends: from any thread, and more than once.
final class LiveScreen: Sendable {
  private let before = Mutex<termios?>(nil)
  private let isOpen = Atomic<Bool>(false)

  // The other screen, without a cursor; back, with one (xterm, "DECSET").
  private static let enter = "\u{1B}[?1049h\u{1B}[?25l"
  private static let leave = "\u{1B}[?25h\u{1B}[?1049l"

  /// Takes the terminal over. Keys come one by one and are not shown; Ctrl-C stays a signal.
  func open() {
    var settings = termios()
    if tcgetattr(STDIN_FILENO, &settings) == 0 {
      before.withLock { [settings] in $0 = settings }
      settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
      withUnsafeMutableBytes(of: &settings.c_cc) { keys in
        keys[Int(VMIN)] = 0
        keys[Int(VTIME)] = 0
        // Whoever suspends it would have a shell on this screen, and so would whoever ends it by SIGQUIT.
        keys[Int(VSUSP)] = 0
        keys[Int(VQUIT)] = 0
      }
      tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    }
    isOpen.store(true, ordering: .relaxed)
    _ = Self.write(Self.enter)
  }

  /// Gives the terminal back as it was.
  func close() {
    guard isOpen.exchange(false, ordering: .relaxed) else { return }
    _ = Self.write(Self.leave)
    let settings = before.withLock { $0 }
    if var settings { tcsetattr(STDIN_FILENO, TCSANOW, &settings) }
  }

  /// - Parameter lines: as wide and as many as the terminal has room for.
  /// - Returns: false when nobody is there to see them.
  func paint(_ lines: [String]) -> Bool {
    Self.write(
      "\u{1B}[H" + lines.map { "\($0)\u{1B}[K" }.joined(separator: "\r\n") + "\u{1B}[J")
  }

  /// Waits for keys.
  /// - Returns: nothing when the time is over; nil when no more will come.
  static func keys(waitingMs: CInt) -> [UInt8]? {
    var watched = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
    let count = poll(&watched, 1, waitingMs)
    guard count > 0 else { return [] }
    var bytes = [UInt8](repeating: 0, count: 256)
    let read = bytes.withUnsafeMutableBytes { Glibc.read(STDIN_FILENO, $0.baseAddress, $0.count) }
    guard read > 0 else { return read < 0 && (errno == EINTR || errno == EAGAIN) ? [] : nil }
    return Array(bytes[..<read])
  }

  private static func write(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 {
      OutputFile.write(UnsafeRawBufferPointer($0), to: STDOUT_FILENO) == nil
    }
  }
}

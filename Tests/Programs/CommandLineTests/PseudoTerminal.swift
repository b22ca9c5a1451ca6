import Glibc
import Testing

/// A terminal without anybody at it, for as long as this lives.
final class PseudoTerminal {
  private let controller: CInt
  /// Kept open, so that what a program wrote stays there to be read after its end.
  private let end: CInt
  let path: String

  // Of asm-generic/ioctls.h: posix_openpt and its like are not in Swift's Glibc.
  private static let unlock: UInt = 0x4004_5431
  private static let number: UInt = 0x8004_5430

  init() throws {
    controller = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var (locked, number): (CInt, CUnsignedInt) = (0, 0)
    try #require(
      controller >= 0 && ioctl(controller, Self.unlock, &locked) == 0
        && ioctl(controller, Self.number, &number) == 0)
    path = "/dev/pts/\(number)"
    end = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
    try #require(end >= 0)
  }

  deinit {
    close(end)
    close(controller)
  }

  func type(_ text: String) {
    _ = text.withCString { Glibc.write(controller, $0, strlen($0)) }
  }

  func resize(columns: Int, rows: Int) {
    var size = winsize()
    size.ws_col = UInt16(columns)
    size.ws_row = UInt16(rows)
    _ = ioctl(controller, UInt(TIOCSWINSZ), &size)
  }

  /// The settings of the line, to see whether a program has left them as they were.
  var settings: [UInt32] {
    var settings = termios()
    _ = tcgetattr(end, &settings)
    return [settings.c_iflag, settings.c_oflag, settings.c_cflag, settings.c_lflag]
  }

  /// The keys that would end or suspend a program without asking it: 0 for none.
  var signalKeys: [UInt8] {
    var settings = termios()
    _ = tcgetattr(end, &settings)
    return withUnsafeBytes(of: settings.c_cc) { [$0[Int(VQUIT)], $0[Int(VSUSP)]] }
  }

  /// Reads what a program writes until it has written these words.
  /// - Returns: all of it; without the words when they do not come in time.
  func read(until words: String, timeoutMs: Int = 60_000) -> String {
    var bytes: [UInt8] = []
    let clock = ContinuousClock()
    let endsAt = clock.now + .milliseconds(timeoutMs)
    while clock.now < endsAt {
      var watched = pollfd(fd: controller, events: Int16(POLLIN), revents: 0)
      guard poll(&watched, 1, 100) > 0 else { continue }
      var part = [UInt8](repeating: 0, count: 4_096)
      let count = part.withUnsafeMutableBytes { Glibc.read(controller, $0.baseAddress, $0.count) }
      guard count > 0 else { break }
      bytes += part[..<count]
      if String(decoding: bytes, as: UTF8.self).contains(words) { break }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

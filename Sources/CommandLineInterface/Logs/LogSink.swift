internal import Glibc

/// Standard error as the place of log lines.
enum LogSink {
  /// A line goes out in one write, so that lines of several threads or processes do not mix.
  static func write(_ line: String) {
    var line = line + "\n"
    line.withUTF8 { bytes in
      var rest = UnsafeRawBufferPointer(bytes)
      while !rest.isEmpty {
        let count = Glibc.write(STDERR_FILENO, rest.baseAddress, rest.count)
        if count > 0 {
          rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        } else if errno != EINTR {
          return
        }
      }
    }
  }
}

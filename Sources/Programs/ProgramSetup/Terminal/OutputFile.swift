internal import Glibc

/// Where a command's words end up.
package enum OutputFile {
  /// Writes all of it, waiting where that takes waiting.
  /// - Returns: the errno of what failed; nil when everything is written.
  package static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: CInt) -> CInt? {
    var rest = bytes
    while !rest.isEmpty {
      let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
      if count > 0 {
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        continue
      }
      guard count < 0 else { return EIO }
      switch errno {
      case EINTR: continue
      case EAGAIN:
        // A terminal or pipe that another program has made non-blocking.
        var watched = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&watched, 1, -1)
      default: return errno
      }
    }
    return nil
  }
}

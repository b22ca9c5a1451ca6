import Glibc
import LocalServices

/// A named pipe that nobody reads and that has no room left.
final class FullPipe {
  private let descriptor: CInt

  init(path: String) throws {
    guard mkfifo(path, 0o600) == 0 else { throw LocalServiceError("mkfifo \(path) failed") }
    // Opened for both, so that it waits for nobody.
    descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { throw LocalServiceError("open \(path) failed") }
    let zeros = [UInt8](repeating: 0, count: 4_096)
    while write(descriptor, zeros, zeros.count) > 0 {}
    while write(descriptor, zeros, 1) > 0 {}
  }

  deinit { close(descriptor) }
}

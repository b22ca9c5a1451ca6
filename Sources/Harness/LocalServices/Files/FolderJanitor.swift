import Glibc
import Synchronization

/// Removes the temporary folders of a process that died without removing them itself (SIGKILL, a
/// crash, Ctrl-C without a handler).
///
/// It is a shell that reads folder names from a pipe. Its end of file is the owner's death, which
/// the kernel reports in every case; then the shell removes the folders. It runs in its own process
/// group, out of reach of Ctrl-C, and ends with its owner.
final class FolderJanitor: Sendable {
  static let shared = FolderJanitor()

  private static let script = """
    folders=$(cat)
    IFS='
    '
    set -f
    for attempt in 1 2 3; do
      rm -rf -- $folders && break
      sleep 0.2
    done
    """

  /// The pipe's writing end, held open until the process ends; nil when there is no janitor.
  private let pipe: CInt?
  private let writing = Mutex(())

  private init() {
    pipe = try? FolderJanitor.start()
  }

  func watch(_ folder: String) {
    guard let pipe else { return }
    let line = Array("\(folder)\n".utf8)
    writing.withLock { _ in
      var sent = 0
      while sent < line.count {
        let count = line.withUnsafeBytes { write(pipe, $0.baseAddress! + sent, line.count - sent) }
        guard count > 0 || errno == EINTR else { return }
        sent += max(count, 0)
      }
    }
  }

  private static func start() throws(LocalServiceError) -> CInt {
    let ends = try OpenDescriptor.pipe()
    let reading = OpenDescriptor(owning: ends.reading)
    let null = try OpenDescriptor.open("/dev/null", O_WRONLY)
    let request = SpawnRequest(
      path: "/bin/sh", arguments: ["sh", "-c", script], environment: nil, folder: "/",
      input: reading.number, output: null.number, error: null.number, deathSignal: 0)
    guard case .success = request.spawn() else {
      close(ends.writing)
      throw .system("cannot start /bin/sh")
    }
    return ends.writing
  }
}

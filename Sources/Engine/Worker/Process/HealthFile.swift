internal import Glibc
internal import Reactor

/// The one line that probes read: `ready`, or `starting` while a lane has no Redis. A young file means
/// that every lane turns, whatever it says.
struct HealthFile: Sendable {
  let path: String

  /// Replaces the file in one step, so that a probe never reads half of it.
  func write(isReady: Bool) throws(SystemError) {
    let draft = path + ".new"
    guard let file = fopen(draft, "w") else { throw SystemError("open \(draft)", errno: errno) }
    fputs(isReady ? "ready\n" : "starting\n", file)
    guard fclose(file) == 0 else { throw SystemError("write \(draft)", errno: errno) }
    guard rename(draft, path) == 0 else { throw SystemError("rename \(draft)", errno: errno) }
  }

  /// Takes the file away, as a worker that ends does.
  func remove() { unlink(path) }
}

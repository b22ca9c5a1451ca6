internal import Glibc
internal import Reactor

/// The line that probes read: `ready`, or `starting` while a lane has no Redis or waits for the apps that stand there, with a
/// second line then that says why. A young file means that every lane turns, whatever it says.
struct HealthFile: Sendable {
  let path: String

  /// Replaces the file in one step, so that a probe never reads half of it.
  /// - Parameter trouble: why it is not ready, as far as that is known.
  func write(isReady: Bool, trouble: String?) throws(SystemError) {
    let draft = path + ".new"
    guard let file = fopen(draft, "w") else { throw SystemError("open \(draft)", errno: errno) }
    fputs(isReady ? "ready\n" : "starting\n", file)
    if !isReady, let trouble { fputs("\(trouble.filter { !$0.isNewline })\n", file) }
    guard fclose(file) == 0 else { throw SystemError("write \(draft)", errno: errno) }
    guard rename(draft, path) == 0 else { throw SystemError("rename \(draft)", errno: errno) }
  }

  /// Takes the file away, as a worker that ends does.
  func remove() { unlink(path) }
}

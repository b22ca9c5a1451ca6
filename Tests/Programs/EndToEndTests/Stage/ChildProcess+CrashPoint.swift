import Glibc
import LocalServices
import Testing

extension ChildProcess {
  /// Waits until a worker has died at the call at which it was to die.
  /// - Returns: false when it never came there, which is recorded; it has been ended then.
  func hasDied(
    at point: String, sourceLocation: SourceLocation = #_sourceLocation
  ) async -> Bool {
    let exit = await waitForExit(timeoutMs: 60_000)
    if exit == .signal(SIGKILL) { return true }
    await kill()
    Issue.record(
      "the point \"\(point)\" was not visited: \(String(describing: exit))",
      sourceLocation: sourceLocation)
    return false
  }
}

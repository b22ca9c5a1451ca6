import Glibc
import LocalServices

/// Prometheus's own tool, of Debian's package prometheus, where it is installed.
enum Promtool {
  private static let places = ["/usr/bin/promtool", "/usr/local/bin/promtool"]
  private static var path: String? { places.first { access($0, X_OK) == 0 } }

  static var isInstalled: Bool { path != nil }

  struct Complaint: Error {
    let said: String
  }

  /// Runs it to its end.
  /// - Parameter input: a file that is its standard input.
  /// - Returns: what it has said.
  /// - Throws: when it does not end well.
  static func run(_ arguments: String..., reading input: String? = nil) async throws -> String {
    let words = ["-c", #"exec "$0" "$@" < "$INPUT" 2>&1"#, path ?? "promtool"] + arguments
    let child = try ChildProcess(
      "/bin/sh", words,
      environment: ["PATH": "/usr/bin:/bin", "INPUT": input ?? "/dev/null"], folder: "/",
      output: .pipe)
    let exit = await child.waitForExit(timeoutMs: 60_000)
    let said = await child.standardOutput?.rest(timeoutMs: 60_000) ?? ""
    guard exit == .code(0) else { throw Complaint(said: said) }
    return said
  }
}

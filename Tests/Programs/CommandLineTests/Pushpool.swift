import Glibc
import LocalServices
import Model
import Testing

/// The built program as its users run it.
enum Pushpool {
  struct Result {
    var status: CInt?
    var output: String
    var error: String

    /// The lines of the output, each as JSON.
    var json: [JSONObject] {
      get throws {
        try output.split(separator: "\n").map {
          try #require(try JSONParser().parse(String($0)).objectValue)
        }
      }
    }
  }

  static let timeoutMs: UInt64 = 300_000

  /// The program stands beside the tests.
  static let path = ((try? BuiltProgram.folder()) ?? ".") + "/pushpool"

  /// Starts the program without the variables and the terminal of whoever runs the tests.
  /// - Parameters:
  ///   - command: another that runs it, such as one that sets limits.
  ///   - input: a file that is its standard input, in place of an empty one.
  static func start(
    _ arguments: [String], behind command: [String] = [], environment: [String: String] = [:],
    folder: String? = nil, input: String? = nil
  ) throws -> ChildProcess {
    var variables = [
      "PATH": getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin", "TZ": "UTC",
    ]
    for name in ["LD_LIBRARY_PATH", "TMPDIR"] {
      if let value = getenv(name) { variables[name] = String(cString: value) }
    }
    // The Redis of most tests keeps nothing.
    variables["PUSHPOOL_REDIS_ACCEPTED_RISKS"] = "no_append_only_file"
    variables.merge(environment) { $1 }
    // A shell that becomes the program: a child process has no other way to an input.
    let redirection = input.map { ["/bin/sh", "-c", #"exec "$0" "$@" < "\#($0)""#] } ?? []
    let words = redirection + command + [path] + arguments
    return try ChildProcess(
      words[0], Array(words.dropFirst()), environment: variables, folder: folder ?? "/",
      output: .pipe, error: .pipe)
  }

  /// Runs the program to its end.
  static func run(
    _ arguments: String..., environment: [String: String] = [:], folder: String? = nil,
    input: String? = nil
  ) async throws -> Result {
    let child = try start(
      arguments, environment: environment, folder: folder, input: input)
    return try await finish(child)
  }

  static func finish(_ child: ChildProcess) async throws -> Result {
    let exit = await child.waitForExit(timeoutMs: timeoutMs)
    let output = await child.standardOutput?.rest(timeoutMs: timeoutMs) ?? ""
    let error = await child.standardError?.rest(timeoutMs: timeoutMs) ?? ""
    guard case .code(let status) = exit else {
      return Result(status: nil, output: output, error: error)
    }
    return Result(status: status, output: output, error: error)
  }
}

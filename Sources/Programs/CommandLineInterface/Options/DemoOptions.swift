internal import ArgumentParser
internal import Model

/// The options of the demo: `pushpool demo` checks them, and passes them on to the program that it becomes.
package struct DemoOptions: ParsableArguments {
  private static let installationsMax = 10_000_000

  @Option(help: "How many devices.") package var installations = 10_000
  @Option(help: "How many users own them.") package var users = 6_000
  @Flag(help: "Leave everything running afterwards, until Ctrl-C.") package var keep = false
  @Flag(help: "Print the result as JSON, for programs.") package var json = false

  package init() {}

  package func validate() throws {
    guard (1...Self.installationsMax).contains(installations) else {
      throw ValidationError("--installations must be from 1 to \(Self.installationsMax).")
    }
    guard (1...Limits.usersPerJobMax / 2).contains(users) else {
      throw ValidationError("--users must be from 1 to \(Limits.usersPerJobMax / 2).")
    }
    guard installations / users < Limits.installationsPerUserMax else {
      throw ValidationError(
        "--users must be more: a user has at most \(Limits.installationsPerUserMax) installations.")
    }
  }

  /// The options as a command line has them.
  var words: [String] {
    ["--installations", String(installations), "--users", String(users)]
      + (keep ? ["--keep"] : []) + (json ? ["--json"] : [])
  }
}

internal import Glibc
internal import ProgramSetup

/// A program that lies beside this one, and that a command becomes. So `pushpool` links nothing that only that program
/// needs.
struct CompanionProgram {
  /// The HTTP API and the dashboard.
  static let server = CompanionProgram(name: "pushpool-server", noun: "the server", goal: "build")
  /// The campaign on this machine, and the surroundings that it starts.
  static let demo = CompanionProgram(name: "pushpool-demo", noun: "the demo", goal: "demo")

  /// The name of its file, and of the product that builds it.
  let name: String
  /// The words for it in a sentence.
  let noun: String
  /// The goal of make that builds it.
  let goal: String

  /// Becomes the program: whoever waits for this process, or signals it, waits for that program and signals it.
  /// - Returns: why it could not.
  func become(_ arguments: [String]) -> CommandFailure {
    let program: String
    do throws(CommandFailure) { program = try path() } catch { return error }
    var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) }
    words.append(nil)
    execv(program, words)
    let reason = String(cString: strerror(errno))
    for word in words { free(word) }
    return CommandFailure(.internalError, "cannot start \(program): \(reason)")
  }

  private func path() throws(CommandFailure) -> String {
    var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &bytes, bytes.count)
    guard count > 0 else {
      throw CommandFailure(.internalError, "cannot read /proc/self/exe")
    }
    let own = String(decoding: bytes[..<count], as: UTF8.self)
    let folder = own.prefix(upTo: own.lastIndex(of: "/") ?? own.startIndex)
    let program = "\(folder)/\(name)"
    guard access(program, X_OK) == 0 else {
      throw CommandFailure(
        .unavailable,
        "\(program) is missing, and it is \(noun): run `swift build -c release --product \(name)`, "
          + "or `make \(goal)`, which does, and lay it beside pushpool")
    }
    return program
  }
}

internal import ArgumentParser
internal import Operations
internal import ProgramSetup
internal import PushpoolConfiguration

struct CheckCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Find every error of a configuration and of the files that it names.",
    discussion: """
        pushpool check
        pushpool check --config pushpool.yaml
        pushpool check --config pushpool.yaml --json

      Each error is a line with the file, the line and the field. It also looks into the keys, accounts, \
      certificates and passwords that the configuration names. It needs neither Redis nor a network, so that a \
      build server can run it before a configuration goes out.

      It ends with 78 when there is an error. Warnings, such as a secret that everybody on the machine may read, \
      do not change the exit status.

      Whether the push networks take the credentials, and whether Redis is fit for them, says pushpool doctor.
      """)

  @OptionGroup var shared: SharedOptions

  func run() async throws {
    let check = try shared.check(for: .checker)
    // What came of it is in the exit status, too.
    let console = Console.standard.with(check.isRight ? .endsWell : .isIgnored)
    if shared.json {
      console.print(json: check.json)
    } else {
      for line in check.lines { console.print(line) }
    }
    guard !check.isRight else { return }
    throw CommandFailure(.configuration, check.verdict)
  }
}

extension ConfigurationCheck {
  /// A line for each error and warning; or one that says that all is well, behind the warnings.
  var lines: [String] {
    let errors = errors.map(\.description)
    let more = omitted > 0 ? ["and \(omitted) more error\(omitted == 1 ? "" : "s")"] : []
    let warnings = warnings.map { "warning: \($0)" }
    return errors + more + warnings + (isRight ? [verdict] : [])
  }

  /// One sentence.
  var verdict: String {
    let count = errors.count + omitted
    guard count == 0 else { return "\(file) has \(count) error\(count == 1 ? "" : "s")" }
    let apps = configuration?.apps.count ?? 0
    return "\(file) has no error: \(apps) app\(apps == 1 ? "" : "s"), "
      + "\(filesCount) file\(filesCount == 1 ? "" : "s") looked into"
  }
}

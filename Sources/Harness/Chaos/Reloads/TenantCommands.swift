import LocalServices
import Model

/// The commands by which an operator adds an app to Redis, and removes it, while workers run.
struct TenantCommands: Sendable {
  static let app = "tenant"
  private static let commandMsMax: UInt64 = 60_000

  private let program: String
  private let appFile: String
  /// The configuration of the commands: the workers' own is broken at times.
  private let configurationFile: String

  /// Writes the file of the app, which is on the stage's APNs.
  init(_ stage: ChaosStage) throws {
    let shared = stage.configuration
    guard let first = shared.text.apps.first, let endpoint = first.apns[.production] else {
      throw ChaosError("this stage has no APNs")
    }
    program = stage.trial.programs.pushpool
    appFile = shared.neighbour("\(Self.app).yaml")
    configurationFile = shared.neighbour("commands.yaml")
    let members =
      shared.keys.account(at: .apns).members(of: first) { $0 }
      + ["endpoint: \(endpoint)", "ca_file: \(shared.keys.authorityFile)"]
    let lines = ["id: \(Self.app)", "apns:", "  production:"] + members.map { "    \($0)" }
    try PrivateFile.write(lines.joined(separator: "\n") + "\n", to: appFile)
    try PrivateFile.write(
      """
      redis: {url: '\(shared.text.redisURL)'}
      apps_in_redis: {key_files: ['\(shared.sealingKeyFile)']}

      """, to: configurationFile)
  }

  func add() async throws { try await run("add", appFile) }

  func remove() async throws { try await run("remove", Self.app) }

  private func run(_ verb: String, _ subject: String) async throws {
    let child = try ChildProcess(
      program, ["app", verb, subject, "--config", configurationFile],
      environment: ["PATH": "/usr/bin:/bin"], output: .discard, error: .pipe)
    let exit = await child.waitForExit(timeoutMs: Self.commandMsMax)
    guard exit == .code(0) else {
      let words = await child.standardError?.rest(timeoutMs: Self.commandMsMax) ?? ""
      throw ChaosError(
        "pushpool app \(verb) \(subject) ends with \(exit.map { "\($0)" } ?? "nothing"): \(words)")
    }
  }
}

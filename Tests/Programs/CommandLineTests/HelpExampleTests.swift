import Glibc
import LocalServices
import Model
import Store
import Testing

/// What the help of each command shows can be copied and run.
@Suite struct HelpExampleTests {
  private static let commands = [
    "check", "status", "top", "metrics", "switch", "switch off", "switch on", "switch list",
    "enqueue",
    "job",
    "dead",
    "dead list", "dead show", "dead retry", "dead drop", "install", "uninstall", "devices", "badge",
    "import", "trace", "jobs", "subscribe", "unsubscribe", "topics", "index",
    "keys", "keys create", "keys list", "keys revoke", "audit",
    "app", "app add", "app set", "app show", "app list", "app remove", "app reseal",
  ]
  private static let token = String(repeating: "00ff", count: 16)

  /// The lines of a command's help before its usage, as somebody reads them in 80 columns.
  private static func discussion(_ command: String) async throws -> [String] {
    let child = try Pushpool.start(
      command.split(separator: " ").map(String.init) + ["--help"], environment: ["COLUMNS": "80"])
    let lines = try await Pushpool.finish(child).output
      .replacing("00ff…", with: token).replacing("cX1…", with: "cX1:token")
      .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    return Array(lines.prefix { !$0.hasPrefix("USAGE:") })
  }

  /// A folder with what the examples name, and programs that they use beside this one.
  private static func folder() throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    let job = #"{"app": "shop", "audience": {"users": ["u1"]}, "notification": {"title": "Sale"}}"#
    try PrivateFile.write(job, to: folder.file("job.json"))
    try PreviewFolder.write(to: folder)
    let configuration = TextFile.read(folder.file("pushpool.yaml"), bytesMax: 1 << 16) ?? ""
    try PrivateFile.write(
      configuration + "\napps_in_redis: {key_files: [apps.key]}\n", to: folder.file("pushpool.yaml")
    )
    try PrivateFile.write(SealingKey.random().fileText, to: folder.file("apps.key"))
    try PrivateFile.write(ImportFile.line(1) + "\n", to: folder.file("installations.ndjson"))
    try PrivateFile.write(
      #"{"app": "shop", "topic": "news", "user": "u1"}"# + "\n",
      to: folder.file("subscriptions.ndjson"))
    try PrivateFile.write(ImportFile.line(2) + "\n", to: folder.file("installations.gz"))
    try PrivateFile.write(ForeignFile.parse, to: folder.file("parse.json"))
    try PrivateFile.write(ForeignFile.ncmb, to: folder.file("ncmb.json"))
    for (program, body) in [
      ("make-job", "cat job.json"), ("jq", "cat"), ("zcat", #"cat "$@""#),
      ("watch", #"shift 2; "$@""#), ("pushpool", #"exec "\#(Pushpool.path)" "$@""#),
    ] {
      try PrivateFile.write("#!/bin/sh\n\(body)\n", to: folder.file(program))
      #expect(chmod(folder.file(program), 0o700) == 0)
    }
    return folder
  }

  @Test("every command that a help shows is one", arguments: commands)
  func runs(command: String) async throws {
    let examples = try await Self.discussion(command).filter {
      $0.hasPrefix("  ") && $0.contains("pushpool ")
    }
    #expect(!examples.isEmpty)
    try await RedisServer.with { redis in
      let folder = try Self.folder()
      // Whom the examples are about.
      let ann = try Pushpool.start(
        ["install", "--app", "shop", "--user", "u1", "--network", "apns", "--token", Self.token],
        environment: ["PUSHPOOL_REDIS_URL": redis.url])
      #expect(try await Pushpool.finish(ann).status == 0)
      for example in examples {
        // No worker is there to wait for.
        let line = example.replacing(" --wait", with: "")
        let child = try ChildProcess(
          "/bin/bash", ["-c", "set -o pipefail; \(line)"],
          environment: [
            "PUSHPOOL_REDIS_URL": redis.url, "PATH": "\(folder.path):/usr/bin:/bin",
          ], folder: folder.path, output: .discard, error: .pipe)
        let result = try await Pushpool.finish(child)
        // What an example names may not be there; that is no fault of the example.
        #expect(
          result.status == 0 || result.status == 65,
          "\(line): \(result.status), \(result.error)")
      }
    }
  }

  @Test("every line of JSON that a help shows is whole and right")
  func json() async throws {
    let lines = try await Self.discussion("import").filter { $0.hasPrefix("  {") }
    #expect(lines.count == 2)
    for line in lines { #expect(throws: Never.self) { try Installation(text: line) } }
    let text = try await Self.discussion("enqueue").joined(separator: "\n")
    let jobs = text.split(separator: "\n\n").filter { $0.hasPrefix("  {") }
    #expect(jobs.count == 3)
    for job in jobs {
      #expect(throws: Never.self) { try Job(bytes: Array(job.utf8)) }
      #expect(job.split(separator: "\n").allSatisfy { $0.hasPrefix("  ") }, "wrapped: \(job)")
    }
  }
}

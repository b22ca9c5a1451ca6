import LocalServices
import Testing
import TestSupport

/// What the guide says of tenants, as a reader does it.
@Suite struct TenantGuideTests {
  private static let guide = "docs/guides/operating.md"

  /// The blocks of commands and of files in a section, in their order.
  private static func blocks(_ heading: String) throws -> [String] {
    let text = Document.text(guide)
    let begin = try #require(text.firstRange(of: "\n## \(heading)\n"))
    let rest = text[begin.upperBound...]
    let section = rest[..<(rest.firstRange(of: "\n## ")?.lowerBound ?? rest.endIndex)]
    var blocks: [[Substring]] = [[]]
    for line in section.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("       ") {
        blocks[blocks.count - 1].append(line.dropFirst(7))
      } else if blocks.last?.isEmpty == false {
        blocks.append([])
      }
    }
    return blocks.filter { !$0.isEmpty }.map { $0.joined(separator: "\n") + "\n" }
  }

  @Test("the steps that add a tenant work as they stand there, and the doctor finds a broken one")
  func steps() async throws {
    let blocks = try Self.blocks("Add a tenant")
    try #require(blocks.count == 6)
    let folder = try TemporaryFolder()
    let made = try ChildProcess(
      "/bin/sh", ["-c", blocks[0]], folder: folder.path, output: .pipe, error: .pipe)
    #expect(try await Pushpool.finish(made).status == 0)
    try PrivateFile.write(blocks[1], to: folder.file("pushpool.yaml"))
    try PrivateFile.write("operator-password", to: folder.file("redis.pass"))
    try PrivateFile.write(blocks[2], to: folder.file("news.yaml"))
    let key = try APNsSigningKey(folder: folder.path)
    try PrivateFile.write(
      try #require(TextFile.read(key.file, bytesMax: 4_096)), to: folder.file("news.p8"))
    var options = RedisServer.Options()
    options.configuration = ["user pushpool-operator on >operator-password ~* &* +@all"]
    try await RedisServer.with(options) { redis in
      let url = "unix://pushpool-operator:@\(redis.socketPath)"
      func run(_ command: String, _ more: String...) async throws -> Pushpool.Result {
        let words = command.split(separator: " ").map(String.init)
        #expect(words.first == "pushpool")
        let child = try Pushpool.start(
          words.dropFirst() + more, environment: ["PUSHPOOL_REDIS_URL": url],
          folder: folder.path)
        return try await Pushpool.finish(child)
      }
      let added = try await run(String(blocks[3].dropLast()))
      #expect(added.status == 0 && added.output.hasPrefix("news is added (apns)"), "\(added)")
      let looked = try await run(String(blocks[4].dropLast()), "--offline")
      #expect(looked.output.contains("keeps apps that can be sent for: 1"), "\(looked)")
      let commands = blocks[5].split(separator: "\n")
      #expect(commands.count == 2)
      let token = String(repeating: "0a", count: 32)
      let installed = try await run(String(commands[0]).replacing("TOKEN", with: token))
      #expect(installed.status == 0, "\(installed)")
      let job = try #require(commands[1].split(separator: "'").last)
      try PrivateFile.write(String(job), to: folder.file("job.json"))
      let shown = try await run("pushpool enqueue --dry-run --network apns job.json")
      #expect(shown.status == 0, "\(shown)")

      // Somebody writes what is no record.
      _ = try await redis.command("HSET", "pushpool:apps", "mail", "no JSON")
      let all = try await run("pushpool doctor --offline")
      #expect(all.status == 1)
      #expect(all.output.contains("keeps an app that workers leave out, mail: "), "\(all)")
      let one = try await run("pushpool doctor --offline --app mail")
      #expect(one.output.contains("workers leave out, mail: ") && one.status == 1, "\(one)")
      let other = try await run("pushpool doctor --offline --app news")
      #expect(!other.output.contains("mail"), "\(other)")
    }
  }
}

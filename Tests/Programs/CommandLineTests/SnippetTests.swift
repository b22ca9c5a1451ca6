import Glibc
import LocalServices
import Model
import Testing
import TestSupport

/// What the guides show in other languages can be copied and run.
@Suite struct SnippetTests {
  private static let python = "/usr/bin/python3"

  /// Whether a program is here and ends well.
  private static func succeeds(_ words: String...) async -> Bool {
    guard
      let child = try? ChildProcess(
        words[0], Array(words.dropFirst()), output: .discard, error: .discard)
    else { return false }
    return await child.waitForExit(timeoutMs: 30_000) == .code(0)
  }

  private static func hasRedisPy() async -> Bool { await succeeds(python, "-c", "import redis") }

  private static func program(_ language: String, _ number: Int, in document: String) throws
    -> DocumentSnippet
  {
    let all = DocumentSnippet.all(language, in: document)
    try #require(number < all.count)
    return all[number]
  }

  /// Runs a program of Python as if Redis were where it looks for it, beside a `pushpool` on its path.
  private static func run(_ snippet: DocumentSnippet, _ redis: RedisServer) async throws
    -> Pushpool.Result
  {
    let folder = try TemporaryFolder()
    let port = try #require(redis.port)
    let text = snippet.text.replacing("port=6379", with: "port=\(port)")
    try PrivateFile.write(text, to: folder.file("snippet.py"))
    let programs = try BuiltProgram.folder()
    let child = try ChildProcess(
      python, ["-W", "error", folder.file("snippet.py")],
      environment: ["PATH": "\(programs):/usr/bin:/bin", "PUSHPOOL_REDIS_URL": redis.url],
      folder: folder.path, output: .pipe, error: .pipe)
    return try await Pushpool.finish(child)
  }

  private static func withRedis(_ body: (RedisServer) async throws -> Void) async throws {
    var options = RedisServer.Options()
    options.tcp = true
    try await RedisServer.with(options, body)
  }

  @Test(
    "the Python of the recipes enqueues a job", .enabled("redis-py is not installed", hasRedisPy))
  func pythonEnqueues() async throws {
    let snippet = try Self.program("python", 0, in: "docs/guides/recipes.md")
    try await Self.withRedis { redis in
      let result = try await Self.run(snippet, redis)
      #expect(result.status == 0, "\(snippet): \(result.error)")
      let waiting = try await Pushpool.run(
        "job", "--app", "shop", "python-1", "--json", "--redis", redis.url)
      #expect(waiting.output.contains("python-1"), "\(waiting.output) \(waiting.error)")
    }
  }

  @Test(
    "the Python of the guide registers a device",
    .enabled("redis-py is not installed", hasRedisPy))
  func pythonInstalls() async throws {
    let snippet = try Self.program("python", 0, in: "docs/guides/registering-devices.md")
    try await Self.withRedis { redis in
      // Any command that changes something puts the functions there.
      let first = try await Pushpool.run("index", "--app", "shop", "--redis", redis.url)
      #expect(first.status == 0, "\(first.error)")
      let result = try await Self.run(snippet, redis)
      #expect(result.status == 0, "\(snippet): \(result.error)")
      #expect(result.output.hasPrefix("created "))
      let devices = try await Pushpool.run(
        "devices", "--app", "shop", "--user", "python-user-1", "--json", "--redis", redis.url)
      #expect(try devices.json.count == 1)
    }
  }

  @Test(
    "what the guide shows for redis-cli registers a device, tells of it, removes it and subscribes its user"
  )
  func redisCLI() async throws {
    try await Self.withRedis { redis in
      _ = try await Pushpool.run("index", "--app", "shop", "--redis", redis.url)
      let lines = DocumentSnippet.indented(in: "docs/guides/registering-devices.md")
        .filter { $0.hasPrefix("redis-cli FCALL ") }
      #expect(lines.count == 4)
      var answers: [String] = []
      // As the reader may: registered, looked at, removed, subscribed.
      for line in [lines[0], lines[3], lines[2], lines[1]] {
        let child = try ChildProcess(
          "/bin/sh",
          ["-c", line.replacing("redis-cli", with: "redis-cli -e -s \(redis.socketPath)")],
          output: .pipe, error: .pipe)
        let result = try await Pushpool.finish(child)
        #expect(result.status == 0, "\(line): \(result.error)")
        answers.append(result.output)
      }
      #expect(answers[0].hasPrefix(#"{"status":"created","object_id":""#))
      #expect(answers[1].contains(#""token":"cX1-token-of-u1:APA91""#))
      #expect(answers[2] == "{\"status\":\"removed\"}\n")
      #expect(answers[3] == "{\"status\":\"subscribed\"}\n")
    }
  }

  @Test(
    "the Python of the guide reads what was uninstalled, to the stream's end",
    .enabled("redis-py is not installed", hasRedisPy))
  func pythonReads() async throws {
    let snippet = try Self.program("python", 2, in: "docs/guides/registering-devices.md")
    try await Self.withRedis { redis in
      for number in 0..<101 {
        let child = try ChildProcess(
          "redis-cli",
          [
            "-s", redis.socketPath, "XADD", "pushpool:uninstalled", "*", "user", "u\(number)",
            "network", "fcm", "token", "t\(number)", "reason", "UNREGISTERED",
          ], output: .discard, error: .discard)
        #expect(await child.waitForExit(timeoutMs: 30_000) == .code(0))
      }
      let result = try await Self.run(snippet, redis)
      #expect(result.status == 0, "\(snippet): \(result.error)")
      let lines = result.output.split(separator: "\n")
      #expect(lines.count == 101)
      #expect(lines.last == "u100 fcm t100 UNREGISTERED")
    }
  }

  /// Whether a checker takes each of the guides' programs of a language, which it is given as a file.
  private static func expectParsed(_ language: String, by checker: String, _ option: String)
    async throws
  {
    let folder = try TemporaryFolder()
    let guides = ["docs/guides/recipes.md", "docs/guides/registering-devices.md"]
    let snippets = guides.flatMap { DocumentSnippet.all(language, in: $0) }
    #expect(snippets.count >= guides.count)
    for snippet in snippets {
      let file = folder.file("snippet.\(language == "js" ? "mjs" : language)")
      try PrivateFile.write(snippet.text, to: file)
      let isTaken = await succeeds(checker, option, file)
      #expect(isTaken, "\(snippet)")
    }
  }

  @Test(
    "the JavaScript of the guides parses",
    .enabled("node is not installed") { await succeeds("node", "--version") })
  func node() async throws { try await Self.expectParsed("js", by: "node", "--check") }

  @Test(
    "the Go of the guides parses",
    .enabled("gofmt is not installed") { await succeeds("gofmt") })
  func go() async throws { try await Self.expectParsed("go", by: "gofmt", "-e") }

  @Test(
    "every installation that a guide shows is right",
    arguments: ["docs/guides/registering-devices.md", "docs/guides/migrating.md"])
  func installations(document: String) throws {
    let snippets = DocumentSnippet.all("json", in: document)
    #expect(!snippets.isEmpty)
    let lines = snippets.flatMap { $0.text.split(separator: "\n") }
    let installations = try lines.map { try Installation(text: String($0)) }
    #expect(installations.count >= 2 && installations.allSatisfy { $0.app == "shop" })
    // Copied one after the other, none takes another's token over.
    #expect(Set(installations.map(\.token)).count == installations.count)
  }

  @Test(
    "the guide's command for CSV takes lines that end with CRLF, too",
    .enabled("jq is not installed") { await succeeds("jq", "--version") },
    arguments: ["\n", "\r\n"])
  func csv(end: String) async throws {
    let folder = try TemporaryFolder()
    let rows = ["app,user,network,token", "shop,u5,apns,00fc13ad", "shop,u6,fcm,cX6-token:APA91"]
    try PrivateFile.write(rows.map { $0 + end }.joined(), to: folder.file("tokens.csv"))
    let command = try #require(
      DocumentSnippet.indented(in: "docs/guides/migrating.md")
        .first { $0.contains("tokens.csv | jq") })
    let reading = command.replacing("| pushpool import -", with: "")
    #expect(reading != command)
    let child = try ChildProcess(
      "/bin/sh", ["-c", reading], folder: folder.path, output: .pipe, error: .pipe)
    let result = try await Pushpool.finish(child)
    #expect(result.status == 0, "\(result.error)")
    let tokens = try result.output.split(separator: "\n").map {
      try Installation(text: String($0)).token.text
    }
    #expect(tokens == ["00fc13ad", "cX6-token:APA91"])
  }
}

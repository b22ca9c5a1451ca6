import LocalServices
import Logging
import Model
import Testing
import Typesetting

@testable import CommandLineInterface
@testable import ProgramSetup

/// What others wrote reaches no terminal and no log as it is.
@Suite struct ForeignTextTests {
  /// A recoloured screen, a control of C1, a turned direction, ends of lines.
  private static let hostile = "\u{1B}[2Jx\u{9B}31m\u{202E}y\u{2028}z"

  private static func isSafe(_ text: String) -> Bool {
    text.unicodeScalars.allSatisfy { $0 == "\n" || !DisplayText.isUnsafe($0) }
  }

  @Test("the model and the terminal mean the same by what is not to be shown")
  func oneRule() {
    for value in 0...UInt32(0x10FFFF) {
      guard let scalar = Unicode.Scalar(value) else { continue }
      #expect(TextRule.isUnsafeToShow(scalar) == DisplayText.isUnsafe(scalar), "\(value)")
    }
  }

  @Test("whatever is typed or read, no command prints it raw")
  func commands() async throws {
    try await RedisServer.with { redis in
      let folder = try TemporaryFolder()
      try PrivateFile.write(
        #"{"app":"shop","audience":{"users":["u1"]},"notification":{"title":"x"},"\#(Self.hostile.dropFirst())":1}"#,
        to: folder.file("job.json"))
      try PrivateFile.write("redis: {\u{202E}url: x}\n", to: folder.file("bad.yaml"))
      for words in [
        [
          "XADD", "pushpool:dead", "1-1", "at", "1790000000000", "kind", "job", "reason", "x",
          "field",
          "/" + Self.hostile, "message", "a\nb" + Self.hostile, "app", "shop", "id", "sale",
          "priority", "normal", "job", "{\r\n" + Self.hostile + "\n}", "truncated", "0",
        ],
        [
          "HSET", "pushpool:alarms", "x|" + Self.hostile,
          #"{"at":1,"until":9000000000000,"by":"x","message":"\#(Self.hostile.dropFirst())"}"#,
        ],
        ["HSET", "pushpool:switches", "user|shop|" + Self.hostile, Self.hostile],
        ["HSET", "pushpool:audiences:shop", "topic:" + Self.hostile, "3"],
        [
          "XADD", "pushpool:acts", "1-1", "at", "1790000000000", "verb", Self.hostile, "app",
          Self.hostile, "subject", Self.hostile, "detail", Self.hostile, "who", Self.hostile,
          "from", Self.hostile,
        ],
        ["HSET", "pushpool:keys", "k" + Self.hostile, Self.key],
        [
          "HSET", "pushpool:job:shop:sale", "state", "running", "admitted", "1", "total", "1",
          "pending", "1", "created_at", "1790000000000", "source", "n1790000000000-0", "users_key",
          Self.hostile,
        ],
        [
          "SET", "pushpool:content:shop:sale",
          #"{"notification":{"title":"\#(Self.hostile.dropFirst())"}}"#,
        ],
      ] {
        let child = try ChildProcess(
          "redis-cli", ["-s", redis.socketPath] + words, output: .discard)
        #expect(await child.waitForExit(timeoutMs: Pushpool.timeoutMs) == .code(0))
      }
      for arguments in [
        ["enqueue", "no" + Self.hostile], ["enqueue", folder.file("job.json")],
        ["status", "--" + Self.hostile], ["status", "--redis", "redis://" + Self.hostile],
        ["status", "--config", folder.file("bad.yaml")], ["status", "--config", Self.hostile],
        [Self.hostile], ["dead", Self.hostile], ["import", "x\ny" + Self.hostile],
        ["devices", "--app", Self.hostile, "--user", "u"],
        ["job", Self.hostile, "--app", "shop", "--redis", redis.url],
        ["devices", "--app", "shop", "--user", Self.hostile, "--redis", redis.url],
        ["status", "--redis", redis.url], ["status", "--json", "--redis", redis.url],
        ["dead", "show", "1-1", "--redis", redis.url],
        ["dead", "show", "1-1", "--json", "--redis", redis.url],
        ["dead", "list", "--redis", redis.url], ["dead", "list", "--json", "--redis", redis.url],
        ["switch", "list", "--redis", redis.url],
        ["topics", "--app", "shop", "--redis", redis.url],
        ["audit", "--redis", redis.url], ["audit", "--json", "--redis", redis.url],
        ["keys", "list", "--redis", redis.url], ["keys", "list", "--json", "--redis", redis.url],
        ["job", "sale", "--app", "shop", "--content", "--redis", redis.url],
        ["job", "sale", "--app", "shop", "--content", "--json", "--redis", redis.url],
        ["check", "--config", folder.file("bad.yaml")], ["check", "--config", Self.hostile],
        ["check", "--config", folder.file("bad.yaml"), "--json"],
      ] {
        let child = try Pushpool.start(arguments)
        let result = try await Pushpool.finish(child)
        #expect(!(result.output + result.error).isEmpty, "\(arguments)")
        #expect(Self.isSafe(result.output), "\(arguments): \(result.output)")
        #expect(Self.isSafe(result.error), "\(arguments): \(result.error)")
        for line in try arguments.contains("--json") ? result.json : [] {
          #expect(!line.isEmpty)
        }
      }
      let shown = try await Pushpool.run("dead", "show", "1-1", "--json", "--redis", redis.url)
      #expect(
        try shown.json.first?["message"]?.stringValue == "a\nb" + Self.hostile,
        "what is escaped reads as the same")
      let acts = try await Pushpool.run("audit", "--json", "--redis", redis.url)
      #expect(try acts.json.map { $0["who"]?.stringValue } == [Self.hostile])
      let keys = try await Pushpool.run("keys", "list", "--json", "--redis", redis.url)
      #expect(try keys.json.map { $0["id"]?.stringValue } == ["k" + Self.hostile])
      let job = try await Pushpool.run(
        "job", "sale", "--app", "shop", "--content", "--json", "--redis", redis.url)
      let title = try job.json.first?["content"]?.objectValue?["notification"]?
        .objectValue?["title"]
      #expect(title?.stringValue == String(Self.hostile.dropFirst()))
    }
  }

  /// A key of the HTTP API as Redis keeps it, with a foreign name.
  private static let key =
    #"{"role":"admin","created_at":1790000000000,"name":"\#(hostile.dropFirst())","#
    + #""created_by":"\#(hostile.dropFirst())","sha256":"\#(String(repeating: "0", count: 64))"}"#

  @Test("a log line for collectors holds no control of C1 and no turned direction")
  func logs() throws {
    let event = LogEvent(
      level: .info, message: "\(Self.hostile)", metadata: ["name": "\(Self.hostile)"],
      source: "x", file: "f", function: "f", line: 1)
    let json = JSONLogHandler(label: "l").line(of: event, atMs: 0)
    #expect(Self.isSafe(json), "\(json)")
    #expect(try JSONParser().parse(json).objectValue?["message"]?.stringValue == Self.hostile)
    let terminal = Terminal(isInteractive: true, hasColour: false)
    let human = HumanLogHandler(label: "l", terminal: terminal).line(of: event, atMs: 0)
    #expect(Self.isSafe(human), "\(human)")
  }

  @Test("emphasis passes where the terminal has it, and nothing else that begins with an escape")
  func emphasis() {
    let colourful = Terminal(isInteractive: true, hasColour: true)
    let plain = Terminal(isInteractive: false)
    let line = TextStyle.bold.apply("x", on: colourful) + "\u{1B}[2J\u{1B}[31my"
    #expect(
      TextStyle.printable(line, on: colourful) == "\u{1B}[1mx\u{1B}[0m\u{FFFD}[2J\u{1B}[31my")
    #expect(Self.isSafe(TextStyle.printable(line, on: plain)))
  }
}

import Glibc
import LocalServices
import Model
import Testing

@testable import CommandLineInterface

/// `pushpool import` against a real Redis.
@Suite struct ImportTests {

  private func tally(_ result: Pushpool.Result, _ name: String) throws -> Int64? {
    try result.json.first?[name]?.int64Value
  }

  @Test("a file of several batches is in, and importing it again changes nothing")
  func whole() async throws {
    try await RedisServer.with { redis in
      let folder = try TemporaryFolder()
      let path = try ImportFile.write((0..<1_234).map { ImportFile.line($0) }, in: folder)
      let first = try await Pushpool.run("import", path, "--json", "--redis", redis.url)
      #expect(first.status == 0, "\(first.error)")
      #expect(try tally(first, "created") == 1_234)
      let second = try await Pushpool.run("import", path, "--json", "--redis", redis.url)
      #expect(try tally(second, "updated") == 1_234)
      #expect(access(path + ".position", F_OK) != 0)
      let devices = try await Pushpool.run(
        "devices", "--app", "shop", "--user", "u1233", "--json", "--redis", redis.url)
      #expect(try devices.json.count == 1)
    }
  }

  @Test("a bad line stops the import with its number, and a corrected file is resumed behind it")
  func resume() async throws {
    try await RedisServer.with { redis in
      let folder = try TemporaryFolder()
      var lines = (0..<700).map { ImportFile.line($0) }
      lines[600] = #"{"app":"shop","network":"apns","token":"00000000"}"#
      let path = try ImportFile.write(lines, in: folder)
      let stopped = try await Pushpool.run("import", path, "--json", "--redis", redis.url)
      #expect(stopped.status == 65)
      #expect(stopped.error.contains("in.ndjson:601: /user"))
      #expect(stopped.error.contains("600 installations are in"))
      #expect(stopped.error.contains("--resume"))

      lines[600] = ImportFile.line(600)
      _ = try ImportFile.write(lines, in: folder)
      let resumed = try await Pushpool.run(
        "import", path, "--resume", "--json", "--redis", redis.url)
      #expect(resumed.status == 0, "\(resumed.error)")
      #expect(try tally(resumed, "created") == 100)
      #expect(try tally(resumed, "updated") == 0)
    }
  }

  @Test("skipped lines are listed with number and reason, and the rest is in")
  func skip() async throws {
    try await RedisServer.with { redis in
      let folder = try TemporaryFolder()
      let path = try ImportFile.write(
        [ImportFile.line(1), "not json", "", ImportFile.line(2), ImportFile.line(3, user: "")],
        in: folder)
      let result = try await Pushpool.run(
        "import", path, "--skip-errors", "--rejects", folder.file("rejects"), "--json", "--redis",
        redis.url)
      #expect(result.status == 0, "\(result.error)")
      #expect(try tally(result, "created") == 2)
      #expect(try tally(result, "refused") == 2)
      let rejects = try #require(String(validatingUTF8File: folder.file("rejects")))
      #expect(rejects.hasPrefix("line 2: not valid JSON"))
      #expect(rejects.contains("\nline 5: /user"))
    }
  }

  @Test("an import that refuses every line says so and ends as bad input")
  func nothing() async throws {
    try await RedisServer.with { redis in
      let folder = try TemporaryFolder()
      let path = try ImportFile.write(["not json", ImportFile.line(3, user: "")], in: folder)
      let lines = try await Pushpool.run(
        "import", path, "--skip-errors", "--json", "--redis", redis.url)
      #expect(lines.status == 65)
      #expect(lines.error.contains("nothing was imported: every line was refused"))
      #expect(try tally(lines, "refused") == 2)
      let foreign = try ImportFile.write([#"{"results":[{"deviceToken":"x"}]}"#], in: folder)
      let parse = try await Pushpool.run(
        "import", foreign, "--format", "parse", "--app", "shop", "--redis", redis.url)
      #expect(parse.status == 65)
      #expect(parse.error.contains("nothing was imported: every installation was refused"))
      let empty = try ImportFile.write([""], in: folder)
      #expect(try await Pushpool.run("import", empty, "--redis", redis.url).status == 0)
    }
  }

  @Test("of a user with more devices than one may have the newest are in, and the rest is counted")
  func tooMany() async throws {
    try await RedisServer.with { redis in
      let folder = try TemporaryFolder()
      let path = try ImportFile.write(
        (0..<150).map { ImportFile.line($0, user: "u") }, in: folder)
      let result = try await Pushpool.run("import", path, "--redis", redis.url)
      #expect(result.status == 0)
      #expect(result.output.contains("150 created; 50 older ones removed, a user has at most 100"))
      let devices = try await Pushpool.run(
        "devices", "--app", "shop", "--user", "u", "--json", "--redis", redis.url)
      let tokens = try devices.json.compactMap { $0["token"]?.stringValue }
      #expect(tokens == (50..<150).map { ImportFile.token($0) })
      let one = try await Pushpool.run(
        "install", "--app", "shop", "--user", "u", "--network", "apns", "--token",
        ImportFile.token(7), "--redis", redis.url)
      #expect(one.status == 0)
      #expect(one.error.contains("a user has at most 100"))
    }
  }
}

extension String {
  /// The text of a file; nil when it cannot be read.
  init?(validatingUTF8File path: String) {
    guard let bytes = try? InputFile.read(path, bytesMax: 1 << 20) else { return nil }
    self.init(validating: bytes, as: UTF8.self)
  }
}

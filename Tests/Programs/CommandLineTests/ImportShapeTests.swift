import Glibc
import LocalServices
import Testing

/// What an import says of a file that is no lines of JSON at all.
@Suite struct ImportShapeTests {
  /// A file that is none of ours, and what is said of it.
  private static let shapes: [(name: String, text: String, told: [String])] = [
    (
      "users.csv", "app,user,network,token\nshop,u1,apns,00ff\n",
      ["looks like CSV", "one JSON object a line", "jq -Rc", "users.csv", "| pushpool import -"]
    ),
    ("semicolons.csv", "app;user;network\nshop;u1;apns\n", ["looks like CSV"]),
    ("tabs.tsv", "app\tuser\tnetwork\nshop\tu1\tapns\n", ["looks like CSV"]),
    (
      "array.json", "[\(ImportFile.line(1)),\(ImportFile.line(2))]\n",
      ["one JSON array", "jq -c '.[]'", "array.json | pushpool import -"]
    ),
    (
      "pretty.json", "[\n  {\n    \"app\": \"shop\"\n  }\n]\n",
      ["one JSON array", "jq -c '.[]'", "pretty.json | pushpool import -"]
    ),
    (
      "objects.json", "{\n  \"app\": \"shop\"\n}\n",
      ["goes over several lines", "jq -c . ", "objects.json | pushpool import -"]
    ),
    (
      "parse.json", "{\"results\": [{\"deviceToken\": \"00ff\"}]}\n",
      ["an export of Parse or NCMB", "pushpool import", "parse.json --format parse --app APP"]
    ),
    (
      "parse-pretty.json", "{ \"results\" : [\n{\"deviceToken\": \"00ff\"}\n]}\n",
      ["an export of Parse or NCMB", "--format parse --app APP"]
    ),
    ("words.txt", "hello world\n", ["one JSON object a line", "pushpool import --help"]),
    ("it's.csv", "app,user\n", [#"it'\''s.csv'"#]),
  ]

  @Test("what a file looks like is said, with the command that takes it", arguments: shapes.indices)
  func told(index: Int) async throws {
    let shape = Self.shapes[index]
    try await RedisServer.with { redis in
      let folder = try TemporaryFolder()
      let path = folder.file(shape.name)
      try PrivateFile.write(shape.text, to: path)
      for more in [[], ["--skip-errors"]] {
        let child = try Pushpool.start(
          ["import", path, "--redis", redis.url] + more)
        let result = try await Pushpool.finish(child)
        #expect(result.status == 65, "\(result)")
        for text in shape.told { #expect(result.error.contains(text), "\(more): \(result.error)") }
      }
    }
  }

  @Test("a compressed file and UTF-16 are told by their first bytes")
  func binary() async throws {
    try await RedisServer.with { redis in
      let folder = try TemporaryFolder()
      for (name, bytes, text) in [
        ("in.gz", [0x1F, 0x8B, 0x08, 0x00, 0x0A] as [UInt8], "zcat "),
        ("utf16", [0xFF, 0xFE, 0x7B, 0x00, 0x0A], "iconv -f UTF-16 -t UTF-8 "),
      ] {
        let path = folder.file(name)
        let file = try #require(fopen(path, "we"))
        fwrite(bytes, 1, bytes.count, file)
        fclose(file)
        let result = try await Pushpool.run("import", path, "--redis", redis.url)
        #expect(result.status == 65 && result.error.contains(text), "\(result)")
        #expect(result.error.contains("| pushpool import -"), "\(result)")
      }
    }
  }

  @Test("an array that is longer than a line may be is told as what it is, also from a pipe")
  func longArray() async throws {
    try await RedisServer.with { redis in
      let folder = try TemporaryFolder()
      let path = folder.file("long.json")
      let lines = (0..<2_000).map { ImportFile.line($0) }.joined(separator: ",")
      try PrivateFile.write("[\(lines)]\n", to: path)
      let result = try await Pushpool.run("import", path, "--redis", redis.url)
      #expect(result.status == 65 && result.error.contains("one JSON array"), "\(result)")
      let piped = try await Pushpool.run("import", "-", "--redis", redis.url, input: path)
      #expect(piped.status == 65 && piped.error.contains("jq -c '.[]'"), "\(piped)")
    }
  }

  @Test("a bad line of a file whose lines are JSON is told as that line")
  func oneBadLine() async throws {
    try await RedisServer.with { redis in
      let folder = try TemporaryFolder()
      for lines in [
        [#"{"app":"shop","user":"","network":"apns","token":"00ff"}"#],
        [ImportFile.line(1), "a,b,c"], [#"{"app":"shop","user":"u1",}"#],
      ] {
        let path = try ImportFile.write(lines, in: folder)
        let result = try await Pushpool.run("import", path, "--redis", redis.url)
        #expect(result.status == 65 && !result.error.contains("looks like"), "\(result)")
        #expect(!result.error.contains("jq"), "\(result)")
      }
    }
  }

  @Test("a file of subscriptions is told in the same way")
  func subscriptions() async throws {
    try await RedisServer.with { redis in
      let folder = try TemporaryFolder()
      let path = folder.file("topics.csv")
      try PrivateFile.write("app,topic,user\nshop,news,u1\n", to: path)
      let result = try await Pushpool.run("subscribe", path, "--redis", redis.url)
      #expect(result.status == 65 && result.error.contains("looks like CSV"), "\(result)")
      #expect(result.error.contains("| pushpool subscribe -"), "\(result)")
      #expect(result.error.contains("topic:"), "\(result)")
    }
  }

  @Test("CSV in place of an export of another service is told as CSV")
  func foreign() async throws {
    try await RedisServer.with { redis in
      let folder = try TemporaryFolder()
      let path = folder.file("parse.csv")
      try PrivateFile.write("deviceToken,user\n00ff,u1\n", to: path)
      let result = try await Pushpool.run(
        "import", path, "--format", "parse", "--app", "shop", "--redis", redis.url)
      #expect(result.status == 65 && result.error.contains("looks like CSV"), "\(result)")
    }
  }
}

import Glibc
import LocalServices
import Model
import Testing

@testable import CommandLineInterface

/// `pushpool import` of other services' exports, against a real Redis.
@Suite struct ForeignImportTests {
  private func devices(of user: String, _ redis: RedisServer) async throws -> [JSONObject] {
    let result = try await Pushpool.run(
      "devices", "--app", "shop", "--user", user, "--json", "--redis", redis.url)
    return try result.json
  }

  @Test("an export of Parse is in, and what was not taken is reported")
  func parse() async throws {
    try await RedisServer.with { redis in
      let folder = try TemporaryFolder()
      try PrivateFile.write(ForeignFile.parse, to: folder.file("parse.json"))
      let result = try await Pushpool.run(
        "import", folder.file("parse.json"), "--format", "parse", "--app", "shop", "--rejects",
        folder.file("rejects"), "--redis", redis.url)
      #expect(result.status == 0, "\(result.error)")
      #expect(result.output.contains("2 created; 2 installations refused"))
      #expect(result.error.contains("  1: its deviceType is winrt (the first: p3)\n"))
      #expect(result.error.contains("  1: it has no user (the first: p4)\n"))
      #expect(result.error.contains("  1: home: is an object (the first: p1)\n"))
      #expect(
        String(validatingUTF8File: folder.file("rejects"))
          == "installation 3: p3: its deviceType is winrt\ninstallation 4: p4: it has no user\n")
      #expect(access(folder.file("parse.json.position"), F_OK) != 0)
      let ann = try #require(try await devices(of: "ann", redis).first)
      #expect(ann["object_id"]?.stringValue == "p1")
      #expect(ann["language"]?.stringValue == "ja-JP")
      #expect(ann["updated_at"]?.int64Value == 1_770_091_506_789)
      #expect(ann["custom"]?.objectValue?["appIdentifier"]?.stringValue == "com.example.shop")
      #expect(try await devices(of: "bob", redis).count == 1)
    }
  }

  @Test(
    "an app without accounts makes each device a user of its own, and a program reads the report")
  func devicesAsUsers() async throws {
    try await RedisServer.with { redis in
      let folder = try TemporaryFolder()
      try PrivateFile.write(ForeignFile.parse, to: folder.file("parse.json"))
      let result = try await Pushpool.run(
        "import", "-", "--format", "parse", "--app", "shop", "--user-field", "installationId",
        "--environment", "development", "--json", "--redis", redis.url,
        input: folder.file("parse.json"))
      #expect(result.status == 0, "\(result.error)")
      #expect(result.error == "")
      let report = try #require(try result.json.first)
      #expect(report["created"]?.int64Value == 3)
      #expect(report["refused"]?.int64Value == 1)
      let reason = report["refused_reasons"]?.arrayValue?.first?.objectValue
      #expect(reason?["reason"]?.stringValue == "its deviceType is winrt")
      #expect(reason?["count"]?.int64Value == 1)
      #expect(reason?["first"]?.stringValue == "p3")
      let device = try #require(try await devices(of: "i-4", redis).first)
      #expect(device["environment"]?.stringValue == "development")
    }
  }

  @Test("an export of NCMB is in, and what was not taken is reported")
  func ncmb() async throws {
    try await RedisServer.with { redis in
      let folder = try TemporaryFolder()
      try PrivateFile.write(ForeignFile.ncmb, to: folder.file("ncmb.json"))
      let result = try await Pushpool.run(
        "import", folder.file("ncmb.json"), "--format", "ncmb", "--app", "shop", "--redis",
        redis.url)
      #expect(result.status == 0, "\(result.error)")
      #expect(result.output.contains("2 created; 1 installation refused"))
      #expect(result.error.contains("its deviceToken: an APNs token must be"))
      #expect(result.error.contains("  1: timeZone: must be"))
      let taro = try #require(try await devices(of: "taro", redis).first)
      #expect(taro["channels"]?.arrayValue == [.string("news")])
      #expect(taro["sdk_version"]?.stringValue == "3.2.1")
    }
  }

  @Test("more than a batch of an export is in, and what stands before a broken place as well")
  func broken() async throws {
    try await RedisServer.with { redis in
      let folder = try TemporaryFolder()
      let elements = (0..<1_234).map {
        #"{"deviceType":"ios","deviceToken":"\#(ImportFile.token($0))","user":"u\#($0)"}"#
      }
      try PrivateFile.write(
        "[" + elements.joined(separator: ",\n") + ", {]", to: folder.file("cut.json"))
      let result = try await Pushpool.run(
        "import", folder.file("cut.json"), "--format", "parse", "--app", "shop", "--redis",
        redis.url)
      #expect(result.status == 65)
      #expect(result.error.contains("is not valid JSON"))
      #expect(result.error.contains("near installation 1235"))
      #expect(
        result.error.contains(
          "1,234 installations are in, correct the input, then import all of it again"))
      #expect(try await devices(of: "u1233", redis).count == 1)
    }
  }

  @Test("a file that was cut off says so, and how many installations of it are in")
  func cutOff() async throws {
    try await RedisServer.with { redis in
      let folder = try TemporaryFolder()
      let elements = (0..<3).map {
        #"{"deviceType":"ios","deviceToken":"\#(ImportFile.token($0))","user":"u\#($0)"}"#
      }
      let text = #"{"results": ["# + elements.joined(separator: ",\n")
      for (cut, isIn) in [(text + ", {\"deviceType\":", true), (text, true), ("[{", false)] {
        try PrivateFile.write(cut, to: folder.file("cut.json"))
        let result = try await Pushpool.run(
          "import", folder.file("cut.json"), "--format", "parse", "--app", "shop", "--redis",
          redis.url)
        #expect(result.status == 65)
        #expect(result.error.contains("cut.json ends too early"), "\(result)")
        #expect(result.error.contains("3 installations are in") == isIn, "\(result)")
        #expect(result.error.contains("are in") == isIn, "\(result)")
        #expect(!result.error.contains("--resume"), "\(result)")
      }
    }
  }

  @Test(
    "options that do not fit the format are refused",
    arguments: [
      ["--format", "parse"], ["--format", "onesignal", "--app", "shop"], ["--app", "shop"],
      ["--user-field", "user"], ["--environment", "development"],
      ["--format", "ncmb", "--app", "a b"],
      ["--format", "parse", "--app", "shop", "--resume"],
      ["--format", "parse", "--app", "shop", "--position", "x"],
      ["--format", "parse", "--app", "shop", "--user-field", ""],
    ])
  func usage(options: [String]) async throws {
    let child = try Pushpool.start(["import", "/dev/null"] + options)
    #expect(try await Pushpool.finish(child).status == 64)
  }
}

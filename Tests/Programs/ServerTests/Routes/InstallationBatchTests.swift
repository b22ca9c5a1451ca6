import LocalServices
import Model
import Testing
import TestSupport

@testable import Server

/// Many installations by one request.
@Suite struct InstallationBatchTests {
  private static func post(
    _ stage: InstallationStage, _ body: [UInt8]
  ) async throws -> InstallationStage.Answer {
    try await stage.call(.post, "/v1/apps/{app}/installations:batch", [:], body: body)
  }

  private static func post(
    _ stage: InstallationStage, _ lines: [String]
  ) async throws -> InstallationStage.Answer {
    try await post(stage, Array(lines.joined(separator: "\n").utf8))
  }

  private static func line(_ number: Int) -> String {
    #"{"user": "u\#(number)", "network": "jpush", "token": "token\#(number)"}"#
  }

  private static func pointer(_ line: JSONValue) -> String? {
    line.objectValue?["error"]?.objectValue?["pointer"]?.stringValue
  }

  @Test("a batch of several groups has a line for each, in their order")
  func inOrder() async throws {
    try await InstallationStage.with { stage in
      let count = ServerLimits.batchAtOnce * 3 + 5
      let answer = try await Self.post(stage, (1...count).map { Self.line($0) })
      #expect(answer.status == 200)
      let numbers = answer.lines.map { $0.objectValue?["line"]?.int64Value }
      #expect(numbers == (1...count).map { Int64($0) })
      for line in answer.lines {
        #expect(line.objectValue?["status"] == .string("created"))
        #expect(line.objectValue?["object_id"]?.stringValue?.isEmpty == false)
      }
      let last = try await stage.call(
        .get, ["network": "jpush", "token": "token\(count)"])
      #expect(last["user"] == .string("u\(count)"))
    }
  }

  @Test("a bad line hurts no other")
  func badLines() async throws {
    try await InstallationStage.with { stage in
      try await stage.redis.command("SET", "pushpool:token:jpush:shop:token9", "x")
      var body: [UInt8] = []
      func add(_ line: [UInt8]) { body += line + [0x0A] }
      add(Array(Self.line(1).utf8))
      add(Array("no JSON".utf8))
      add(
        Array(#"{"user": ""#.utf8) + [0xFF]
          + Array(#"", "network": "jpush", "token": "t002"}"#.utf8))
      add(Array(#"{"network": "jpush", "token": "token3"}"#.utf8))
      add([])
      add(Array(" \r".utf8))
      add(Array(#"{"app": "other", "user": "u", "network": "jpush", "token": "token4"}"#.utf8))
      add(Array((#"{"app": "shop", "# + Self.line(5).dropFirst() + "\r").utf8))
      add([UInt8](repeating: 0x61, count: Limits.installationBytesMax + 1))
      add(Array(Self.line(9).utf8))
      body += Array(Self.line(1).utf8)
      let answer = try await Self.post(stage, body)
      #expect(answer.status == 200)
      let lines = answer.lines
      #expect(
        lines.map { $0.objectValue?["line"]?.int64Value } == [1, 2, 3, 4, 7, 8, 9, 10, 11])
      #expect(
        lines.map { Self.pointer($0) } == [nil, "", "", "/user", "/app", nil, "", "", nil],
        "\(answer)")
      #expect(
        lines.compactMap { $0.objectValue?["status"]?.stringValue }
          == ["created", "created", "updated"])
    }
  }

  @Test("of two lines of one token the later wins")
  func sameToken() async throws {
    try await InstallationStage.with { stage in
      let answer = try await Self.post(
        stage, [Self.line(1), Self.line(1).replacing("u1", with: "u2")])
      #expect(
        answer.lines.map { $0.objectValue?["status"] } == [.string("created"), .string("moved")])
      let found = try await stage.call(.get, ["network": "jpush", "token": "token1"])
      #expect(found["user"] == .string("u2"))
    }
  }

  @Test("a batch has at least one line and at most ten thousand")
  func bounds() async throws {
    try await InstallationStage.with { stage in
      let line = "{}\n"
      let most = String(repeating: line, count: ServerLimits.batchLinesMax)
      let answer = try await Self.post(stage, Array(most.utf8))
      #expect(answer.status == 200 && answer.lines.count == ServerLimits.batchLinesMax)
      let blanks = try await Self.post(stage, Array((most + "\n \n").utf8))
      #expect(blanks.status == 200)
      #expect(try await Self.post(stage, Array((most + line).utf8)).status == 413)
      #expect(try await Self.post(stage, [UInt8]()).status == 400)
      #expect(try await Self.post(stage, Array("\n \r\n".utf8)).status == 400)
    }
  }

  @Test("while Redis is away no line has an answer")
  func away() async throws {
    try await InstallationStage.with { stage in
      await stage.redis.kill9()
      let answer = try await Self.post(stage, [Self.line(1)])
      #expect(answer.status == 503)
    }
  }
}

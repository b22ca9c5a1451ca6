import Glibc
import LocalServices
import Model
import Testing

@testable import Simulator

@Suite("What the simulator shows of the requests that it receives")
struct ReceivedLogTests {
  private func lines(_ path: String) throws -> [JSONObject] {
    let text = String(decoding: try BoundedFile.read(path, bytesMax: 1 << 20), as: UTF8.self)
    return try text.split(separator: "\n").map {
      try #require(try JSONParser(bytesMax: 10_000).parse(Array($0.utf8)).objectValue)
    }
  }

  @Test("a line a push: network, shortened token, answer, header fields and payload, no credential")
  func showsPushes() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("received")
    let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    defer { close(descriptor) }
    var script = SimulatorScript()
    script.rules = [ScriptRule(tokenPrefix: "dead", status: 410, reason: "Unregistered")]
    let client = try WireClient(script: script, receivedDescriptor: descriptor)
    let token = String(repeating: "0123456789abcdef", count: 4)
    _ = try await client.push(2, tokens: [token, "deadbeef"])
    let shown = try lines(path)
    #expect(shown.count == 2)
    let first = try #require(shown.first { $0["answer"]?.stringValue == "200" })
    #expect(first["network"]?.stringValue == "apns")
    #expect(first["path"]?.stringValue == "/3/device/01234567…")
    #expect(first["body"]?.objectValue?["aps"]?.objectValue?["alert"] != nil)
    let headers = try #require(first["headers"]?.objectValue)
    #expect(headers["apns-topic"]?.stringValue == "com.example.shop")
    #expect(headers["authorization"]?.stringValue == "bearer …")
    let dead = try #require(shown.first { $0["path"]?.stringValue == "/3/device/deadbeef" })
    #expect(dead["answer"]?.stringValue == #"410 {"reason":"Unregistered"}"#)
  }

  @Test("a long payload is cut, one that is no JSON is shown as text, and no line outgrows a pipe")
  func isBounded() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("received")
    let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    defer { close(descriptor) }
    var log = ReceivedLog(descriptor: descriptor)
    note(&log, body: String(repeating: "\u{1}", count: 5_000))
    note(&log, body: "{\"aps\": \u{1b}[31m}", headers: [("apns-topic", longText)])
    let shown = try lines(path)
    #expect(shown.count == 2)
    #expect(shown[0]["bytes"] == .integer(5_000))
    #expect(shown[0]["body"]?.stringValue?.hasSuffix("…") == true)
    #expect(shown[1]["body"]?.stringValue == "{\"aps\": \u{1b}[31m}")
    let bytes = try BoundedFile.read(path, bytesMax: 1 << 20)
    #expect(!bytes.contains(0x1b), "no terminal is told anything")
    #expect(bytes.split(separator: 0x0a).allSatisfy { $0.count < PIPE_BUF })
  }

  @Test("of a request for a bearer token the assertion is not shown")
  func hidesAssertions() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("received")
    let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    defer { close(descriptor) }
    var log = ReceivedLog(descriptor: descriptor)
    note(&log, path: "/token", body: "grant_type=x&assertion=secret")
    let line = try #require(try lines(path).first)
    #expect(line["network"]?.stringValue == "oauth" && line["bytes"] == .integer(29))
    #expect(line["body"] == nil)
  }

  @Test("nothing waits for a reader that does not read: the next line says what was left out")
  func leavesOut() throws {
    var ends: [CInt] = [0, 0]
    #expect(pipe(&ends) == 0)
    defer { for end in ends { close(end) } }
    var log = ReceivedLog(descriptor: ends[1])
    // Each line takes a page of the pipe, which has 16 of them.
    for _ in 0..<100 { note(&log, body: longText) }
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    let before = read(ends[0], &buffer, buffer.count)
    let taken = buffer[..<before].count { $0 == 0x0a }
    #expect(taken > 0 && taken < 100)
    note(&log, body: "{}")
    let count = read(ends[0], &buffer, buffer.count)
    let line = try #require(
      try JSONParser(bytesMax: 10_000).parse(Array(buffer[..<(count - 1)])).objectValue)
    #expect(line["left_out_before"] == .integer(100 - taken))
  }

  private var longText: String { String(repeating: "x", count: 1_000) }

  private func note(
    _ log: inout ReceivedLog, path: String = "/3/device/aabb", body: String,
    headers: [(name: String, value: String)] = []
  ) {
    Array(path.utf8).withUnsafeBytes { path in
      Array("POST".utf8).withUnsafeBytes { method in
        Array(body.utf8).withUnsafeBytes { body in
          log.note(
            IncomingRequest(method: method, path: path, headers: NetworkHeaders(), body: body),
            headers: headers, answer: "200")
        }
      }
    }
  }
}

import LocalServices
import Model
import Testing

/// `pushpool check`: nothing of it needs Redis.
@Suite struct CheckTests {
  @Test("a right configuration ends with 0 and one sentence")
  func right() async throws {
    let folder = try TemporaryFolder()
    try PreviewFolder.write(to: folder)
    let result = try await Pushpool.run("check", folder: folder.path)
    #expect(result.status == 0 && result.error == "")
    #expect(result.output == "pushpool.yaml has no error: 1 app, 2 files looked into\n")
    let json = try await Pushpool.run("check", "--json", folder: folder.path)
    #expect(json.status == 0)
    #expect(try json.json.first?["ok"]?.boolValue == true)
  }

  @Test("each error is a line, and the exit status is 78")
  func wrong() async throws {
    let folder = try TemporaryFolder()
    try PrivateFile.write(
      "worker: {lane: 1}\nlog: {level: loud}\napps: [{id: a, fcm: {service_account_file: f}}]\n",
      to: folder.file("bad.yaml"))
    let result = try await Pushpool.run("check", "--config", "bad.yaml", folder: folder.path)
    #expect(result.status == 78)
    let lines = result.output.split(separator: "\n")
    #expect(lines.count == 3)
    #expect(
      lines.first
        == "bad.yaml:1: worker.lane: is not a known field; did you mean \"lanes\"?")
    #expect(lines.last?.hasPrefix("bad.yaml:3: apps[0].fcm.service_account_file: f cannot") == true)
    #expect(result.error == "pushpool: bad.yaml has 3 errors\n")
    let json = try await Pushpool.run(
      "check", "--config", "bad.yaml", "--json", folder: folder.path)
    #expect(json.status == 78)
    #expect(try json.json.first?["errors"]?.arrayValue?.count == 3)
  }

  @Test("a warning is a line and no error; many errors are counted")
  func warnings() async throws {
    let folder = try TemporaryFolder()
    let result = try await Pushpool.run(
      "check", environment: ["PUSHPOOL_REDIS_PORT": "1"], folder: folder.path)
    #expect(result.status == 0)
    #expect(result.output.contains("warning: PUSHPOOL_REDIS_PORT is set"))
    #expect(result.output.contains("warning: there are no apps"))
    #expect(result.output.hasSuffix("configuration has no error: 0 apps, 0 files looked into\n"))
    let apps = (0..<101).map { "  - id: a\($0)\n" }.joined()
    try PrivateFile.write("apps:\n\(apps)", to: folder.file("pushpool.yaml"))
    let many = try await Pushpool.run("check", folder: folder.path)
    #expect(many.status == 78 && many.output.contains("and 1 more error\n"))
    #expect(many.error == "pushpool: pushpool.yaml has 101 errors\n")
  }
}

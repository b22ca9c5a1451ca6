import Glibc
import LocalServices
import Model
import Testing

@Suite struct DemoTests {
  @Test("a demo delivers, retries and uninstalls whatever Redis is set, and nothing of it stays")
  func demo() async throws {
    let folder = try TemporaryFolder()
    let result = try await Pushpool.run(
      "demo", "--installations", "500", "--users", "300", "--json",
      environment: ["TMPDIR": folder.path, "PUSHPOOL_REDIS_URL": "redis://127.0.0.1:1"])
    #expect(result.status == 0, "\(result.error)")
    let report = try #require(try result.json.first)
    #expect(report["state"]?.stringValue == "done")
    #expect(report["total"]?.int64Value == 500)
    // JPush does not say which of a request's devices are gone: three of its hundred.
    #expect(report["accepted"]?.int64Value == 488)
    #expect(report["uninstalled"]?.int64Value == 12)
    #expect(report["provider_accepted"]?.int64Value == 485)
    // Every busy APNs device once: two of each hundred.
    #expect(report["retries"]?.int64Value == 6)
    #expect(report["no_installations"]?.int64Value == 3)
    #expect(FolderContent.names(folder.path).isEmpty)
  }

  @Test("a demo that is interrupted ends what it started")
  func interrupted() async throws {
    let folder = try TemporaryFolder()
    // So many that it is still sending when the signal comes: what ends it later is no interruption.
    let child = try Pushpool.start(
      ["demo", "--installations", "20000", "--keep"], environment: ["TMPDIR": folder.path])
    let line = await child.standardError?.nextLine(
      containing: "a worker runs as process", timeoutMs: Pushpool.timeoutMs)
    let worker = try #require(line?.split(separator: " ").last.flatMap { CInt($0) })
    child.signal(SIGINT)
    let result = try await Pushpool.finish(child)
    #expect(result.status == 130, "\(result.error)")
    #expect(kill(worker, 0) != 0)
    #expect(FolderContent.names(folder.path).isEmpty)
  }

  @Test("the commands that a kept demo suggests find something")
  func visit() async throws {
    let folder = try TemporaryFolder()
    let child = try Pushpool.start(
      ["demo", "--installations", "200", "--keep"], environment: ["TMPDIR": folder.path])
    func line(_ text: String) async throws -> String {
      try #require(
        await child.standardError?.nextLine(containing: text, timeoutMs: Pushpool.timeoutMs))
    }
    let export = try await line("export PUSHPOOL_REDIS_URL=")
    let url = try #require(export.split(separator: "=", maxSplits: 1).last)
    for command in ["pushpool status", "pushpool devices", "pushpool job"] {
      let words = try await line(command).split(separator: " ").dropFirst().map(String.init)
      let result = try await Pushpool.finish(
        try Pushpool.start(words + ["--json", "--redis", String(url)]))
      #expect(result.status == 0 && !result.output.isEmpty, "\(words)")
    }
    child.signal(SIGINT)
    #expect(try await Pushpool.finish(child).status == 0)
  }

  @Test(
    "a demo without a program that it needs says what is missing and how to get it",
    arguments: [
      (["pushpool"], "pushpool-demo"), (["pushpool", "pushpool-demo"], "pushpool-simulator"),
    ])
  func alone(present: [String], missing: String) async throws {
    let folder = try TemporaryFolder()
    for program in present {
      let copying = try ChildProcess(
        "cp", ["\(try BuiltProgram.folder())/\(program)", folder.path])
      #expect(await copying.waitForExit(timeoutMs: Pushpool.timeoutMs) == .code(0))
    }
    let child = try ChildProcess(
      folder.file("pushpool"), ["demo"], environment: ["TMPDIR": folder.path], output: .pipe,
      error: .pipe)
    let result = try await Pushpool.finish(child)
    #expect(result.status == 69)
    #expect(result.error.contains("\(folder.path)/\(missing) is missing"), "\(result.error)")
    #expect(result.error.contains("swift build -c release --product \(missing)"))
    #expect(result.error.contains("make demo"))
    #expect(FolderContent.names(folder.path).sorted() == present.sorted())
  }

  @Test("a wrong option of the demo is refused before the demo's program is looked for")
  func options() async throws {
    let folder = try TemporaryFolder()
    let copying = try ChildProcess("cp", [Pushpool.path, folder.path])
    #expect(await copying.waitForExit(timeoutMs: Pushpool.timeoutMs) == .code(0))
    for option in ["--installations", "--users"] {
      let child = try ChildProcess(
        folder.file("pushpool"), ["demo", option, "0"], output: .pipe, error: .pipe)
      let result = try await Pushpool.finish(child)
      #expect(result.status == 64 && result.error.contains("\(option) must be"), "\(result.error)")
    }
  }
}

import Glibc
import LocalServices
import Testing

@testable import Simulator

@Suite("The pushpool-simulator command")
struct CommandTests {
  /// The command beside the test bundle.
  private static let command = ((try? BuiltProgram.folder()) ?? ".") + "/pushpool-simulator"

  private static let patienceMs: UInt64 = 60_000

  private func exitCode(_ arguments: [String]) async throws -> ChildProcess.Exit? {
    let child = try ChildProcess(Self.command, arguments, output: .discard, error: .discard)
    return await child.waitForExit(timeoutMs: Self.patienceMs)
  }

  @Test(
    "it makes keys, says where it listens, takes a new script on SIGHUP, and ends with counters")
  func serves() async throws {
    let folder = try TemporaryFolder()
    let scriptFile = folder.file("script.json")
    try write("{}", to: scriptFile)
    let child = try ChildProcess(
      Self.command,
      ["--port", "0", "--generate", folder.file("keys"), "--script", scriptFile],
      output: .pipe, error: .pipe)
    let output = try #require(child.standardOutput)
    let ready = await output.nextLine(timeoutMs: Self.patienceMs)
    #expect(ready?.hasPrefix("listening on 127.0.0.1:") == true)
    let configuration = try BoundedFile.read(folder.file("keys/pushpool.yaml"), bytesMax: 10_000)
    let port = try #require(ready?.split(separator: ":").last)
    #expect(String(decoding: configuration, as: UTF8.self).contains("https://localhost:\(port)"))

    let key = try BoundedFile.read(folder.file("keys/localhost.pem"), bytesMax: 10_000)
    let second = ["--port", String(port), "--generate", folder.file("keys")]
    #expect(try await exitCode(second) == .code(78), "the port is in use")
    #expect(
      try BoundedFile.read(folder.file("keys/localhost.pem"), bytesMax: 10_000) == key,
      "the first one's keys stay")

    try write("{\"delay\": 1}", to: scriptFile)
    child.signal(SIGHUP)
    let complaint = await child.standardError?.nextLine(timeoutMs: Self.patienceMs)
    #expect(complaint?.contains("did you mean \"delay_ms\"?; the old script stays") == true)

    child.signal(SIGUSR1)
    let counters = await output.nextLine(timeoutMs: Self.patienceMs)
    #expect(counters?.hasPrefix("{\"connections_opened\":0,") == true)
    #expect(await child.terminate() == .code(0))
    #expect(await output.nextLine(timeoutMs: Self.patienceMs)?.contains("\"accepted\":0") == true)
  }

  @Test("it exits as sysexits has it: 64 usage, 65 bad script, 78 configuration")
  func exits() async throws {
    let folder = try TemporaryFolder()
    let scriptFile = folder.file("script.json")
    try write("{\"rules\": 1}", to: scriptFile)
    #expect(try await exitCode(["--bogus"]) == .code(64))
    #expect(try await exitCode([]) == .code(64))
    #expect(try await exitCode(["--cert", "/none", "--key", "/none"]) == .code(78))
    let badScript = ["--port", "0", "--generate", folder.path, "--script", scriptFile]
    #expect(try await exitCode(badScript) == .code(65))
  }

  private func write(_ text: String, to path: String) throws {
    let file = try #require(fopen(path, "w"))
    fputs(text, file)
    fclose(file)
  }
}

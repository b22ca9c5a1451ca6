import LocalServices
import Testing

/// The programs of `examples` can be copied and run.
@Suite struct ExampleTests {
  private static let script =
    "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/") + "/examples/run"

  @Test("every example whose language and client are here prints what it should")
  func examples() async throws {
    let programs = try BuiltProgram.folder()
    let child = try ChildProcess(
      "/bin/bash", [Self.script],
      environment: ["PATH": "\(programs):/usr/bin:/bin", "PUSHPOOL": programs],
      output: .pipe, error: .pipe)
    let result = try await Pushpool.finish(child)
    #expect(result.status == 0, "\(result.output) \(result.error)")
    #expect(result.output.contains("send.py"), "\(result.output)")
  }
}

import LocalServices
import Model
import Testing

@testable import Simulator

@Suite("The accept log")
struct AcceptLogTests {
  private func append(_ log: AcceptLog, token: String, count: Int = 1) -> Bool {
    Array(token.utf8).withUnsafeBytes { token in
      let push = Acceptance(network: .fcm, token: token, topic: token, bodyHash: 0xab)
      return (0..<count).allSatisfy { _ in
        log.append(token, of: push, connection: 12, stream: 345, nowMs: 1_790_000_000_001)
      }
    }
  }

  @Test("a line has every field, and the file is appended to")
  func writesLines() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("log")
    for _ in 0..<2 {
      let log = try AcceptLog(path: path)
      #expect(append(log, token: "abc"))
      #expect(log.write())
    }
    let text = String(decoding: try BoundedFile.read(path, bytesMax: 1_000), as: UTF8.self)
    let line = "1790000000001 fcm abc abc 12 345 00000000000000ab\n"
    #expect(text == line + line)
  }

  @Test("more lines than the buffer holds are all written, however long their tokens")
  func outgrowsBuffer() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("log")
    let log = try AcceptLog(path: path)
    #expect(append(log, token: String(repeating: "t", count: 4_096), count: 200))
    #expect(log.write())
    let bytes = try BoundedFile.read(path, bytesMax: 4 << 20)
    #expect(bytes.count { $0 == 0x0a } == 200)
  }

  @Test("a full disk is reported, and the push is refused rather than accepted unrecorded")
  func reportsFullDisk() async throws {
    let log = try AcceptLog(path: "/dev/full")
    #expect(append(log, token: "abc"))
    #expect(!log.write())
    let client = try WireClient(logFile: "/dev/full")
    #expect(try await client.push(2) == [.answered(500), .answered(500)])
    #expect(client.simulator.counters.logFailures >= 1)
  }

  @Test("a log that cannot be opened is refused with its name")
  func refusesBadPath() throws {
    let error = #expect(throws: SimulatorError.self) { try AcceptLog(path: "/nowhere/log") }
    #expect(error?.description.contains("/nowhere/log") == true)
  }
}

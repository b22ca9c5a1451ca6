import Glibc
import Reactor
import Testing

@testable import CommandLineInterface
@testable import ProgramSetup

@Suite("The log's queue")
struct LogQueueTests {
  /// A pipe with so little room that two lines of a page fill it.
  private struct Pipe: ~Copyable {
    let reading: CInt
    let writing: CInt
    static let bytes = 4_096
    /// F_SETPIPE_SZ (fcntl(2)), which Glibc's module lacks.
    static let setSize: CInt = 1_031

    init() throws {
      var ends: [CInt] = [-1, -1]
      guard pipe(&ends) == 0 else { throw SystemError("pipe", errno: errno) }
      (reading, writing) = (ends[0], ends[1])
      _ = fcntl(writing, Self.setSize, Int32(Self.bytes))
    }

    deinit {
      close(reading)
      close(writing)
    }

    /// The lines up to one that holds the text.
    func lines(upTo text: String) -> [String] {
      var bytes: [UInt8] = []
      var chunk = [UInt8](repeating: 0, count: 65_536)
      while !String(decoding: bytes, as: UTF8.self).contains(text) {
        let count = read(reading, &chunk, chunk.count)
        guard count > 0 else { break }
        bytes += chunk[..<count]
      }
      return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map { String($0) }
    }
  }

  private static func line(_ number: Int) -> String {
    "\(number) " + String(repeating: "x", count: 1_000)
  }

  @Test(
    "never makes anybody wait: what nobody reads is dropped, counted, and told of when somebody does"
  )
  func drops() throws {
    let pipe = try Pipe()
    let queue = LogQueue(descriptor: pipe.writing, bytesMax: 16 * 1_024) { "dropped \($0)" }
    try queue.start()
    for number in 0..<1_000 { queue.append(Self.line(number)) }
    // Nobody reads yet, and this comes back all the same.
    queue.flush(withinMs: 10)
    let lines = pipe.lines(upTo: "dropped")
    let kept = lines.filter { !$0.hasPrefix("dropped") }
    let dropped = lines.compactMap { $0.hasPrefix("dropped ") ? Int($0.dropFirst(8)) : nil }
    // The first ones, in their order, without a gap.
    #expect(kept == (0..<kept.count).map { Self.line($0) })
    #expect(kept.count < 24)
    #expect(dropped == [1_000 - kept.count])
    queue.append("after")
    #expect(pipe.lines(upTo: "after") == ["after"])
  }

  @Test("has written everything when a flush returns in time")
  func flushes() throws {
    let pipe = try Pipe()
    let queue = LogQueue(descriptor: pipe.writing, bytesMax: 16 * 1_024) { "dropped \($0)" }
    queue.append("one")
    queue.append("two")
    try queue.start()
    queue.flush(withinMs: 60_000)
    _ = fcntl(pipe.reading, F_SETFL, O_NONBLOCK)
    #expect(pipe.lines(upTo: "two") == ["one", "two"])
  }

  @Test("tells of a line that is longer than the queue without waiting for the next")
  func tellsOfLongLine() throws {
    let pipe = try Pipe()
    let queue = LogQueue(descriptor: pipe.writing, bytesMax: 16 * 1_024) { "dropped \($0)" }
    try queue.start()
    queue.append(String(repeating: "x", count: 20_000))
    #expect(pipe.lines(upTo: "dropped") == ["dropped 1"])
  }
}

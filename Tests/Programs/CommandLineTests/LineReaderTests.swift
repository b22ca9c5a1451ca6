import Glibc
import LocalServices
import Testing

@testable import CommandLineInterface

@Suite struct LineReaderTests {
  private func lines(
    of text: String, bytesMax: Int = 8, from position: ImportPosition = ImportPosition()
  ) throws -> (lines: [String], offset: Int64, number: Int) {
    let folder = try TemporaryFolder()
    try PrivateFile.write(text, to: folder.file("lines"))
    let descriptor = try InputFile.open(folder.file("lines"))
    defer { InputFile.close(descriptor, "lines") }
    lseek(descriptor, off_t(position.offset), SEEK_SET)
    let reader = LineReader(
      descriptor: descriptor, name: "lines", lineBytesMax: bytesMax, position: position)
    var lines: [String] = []
    while true {
      let next = try reader.next { line in
        switch line {
        case .text(let bytes): String(decoding: bytes, as: UTF8.self)
        case .tooLong: "(too long)"
        }
      }
      guard let next else { break }
      lines.append(next)
    }
    return (lines, reader.offset, reader.lineNumber)
  }

  @Test("the last line needs no newline")
  func last() throws {
    let read = try lines(of: "a\n\nbc")
    #expect(read.lines == ["a", "", "bc"])
    #expect(read.offset == 5)
    #expect(read.number == 3)
    #expect(try lines(of: "").lines == [])
    #expect(try lines(of: "\n").lines == [""])
  }

  @Test("a line over the limit is passed over and the next one is whole")
  func tooLong() throws {
    #expect(try lines(of: "123456789\nok\n").lines == ["(too long)", "ok"])
    let huge = String(repeating: "x", count: 600_000)
    let read = try lines(of: "a\n\(huge)\nb\n\(huge)")
    #expect(read.lines == ["a", "(too long)", "b", "(too long)"])
    #expect(read.offset == 1_200_005)
  }

  @Test("lines that straddle reads are whole")
  func straddling() throws {
    let all = (0..<60_000).map { "l\($0)" }
    let read = try lines(of: all.joined(separator: "\n") + "\n")
    #expect(read.lines == all)
  }

  @Test("reading goes on from a position with its line numbers")
  func resumed() throws {
    let read = try lines(of: "a\nb\nc\n", from: ImportPosition(offset: 2, lines: 1))
    #expect(read.lines == ["b", "c"])
    #expect(read.number == 3)
    #expect(read.offset == 6)
  }
}

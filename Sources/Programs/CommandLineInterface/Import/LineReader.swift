internal import Glibc
internal import Model
internal import ProgramSetup

/// Reads lines out of a file or a pipe in constant memory.
final class LineReader: ImportReader {
  /// The kinds of line.
  enum Line {
    /// Its bytes without the newline, valid during the call.
    case text(UnsafeBufferPointer<UInt8>)
    /// Longer than the limit, and passed over.
    case tooLong
  }

  private let lineBytesMax: Int
  private let window: InputWindow
  /// Counted from 1: the line that `next` gave last.
  private(set) var lineNumber: Int
  /// Where the next line begins.
  private(set) var offset: Int64
  /// Whether it reads from the file's beginning, and not from where an import has stopped.
  private let readsBeginning: Bool
  /// The first line that is not blank: its number, and as much of it as there was room for.
  private(set) var beginning: (line: Int, bytes: [UInt8])?

  /// - Parameter name: for messages.
  init(
    descriptor: CInt, name: String, lineBytesMax: Int, position: ImportPosition = ImportPosition()
  ) {
    self.lineBytesMax = lineBytesMax
    window = InputWindow(
      descriptor: descriptor, name: name,
      capacity: max(CommandLineLimits.readBytes, lineBytesMax * 2))
    readsBeginning = position.offset == 0
    lineNumber = position.lines
    offset = position.offset
  }

  /// Calls the body with the next line.
  /// - Returns: nil at the end of the file.
  func next<Value>(_ body: (Line) -> Value) throws(CommandFailure) -> Value? {
    var isTooLong = false
    var searched = 0
    while true {
      if let newline = newline(from: searched) {
        return finish(length: newline, used: newline + 1, isTooLong, body)
      }
      if window.hasEnded {
        guard window.count > 0 || isTooLong else { return nil }
        return finish(length: window.count, used: window.count, isTooLong, body)
      }
      if window.count > lineBytesMax {
        // Only its length matters now, but for what the first line begins with.
        noteBeginning(UnsafeBufferPointer(rebasing: window.bytes[..<window.count]))
        offset += Int64(window.count)
        window.drop(window.count)
        isTooLong = true
      }
      searched = window.count
      try window.fill()
    }
  }

  private func finish<Value>(
    length: Int, used: Int, _ isTooLong: Bool, _ body: (Line) -> Value
  ) -> Value {
    let line = UnsafeBufferPointer(rebasing: window.bytes[..<length])
    noteBeginning(line)
    offset += Int64(used)
    window.drop(used)
    lineNumber += 1
    return body(isTooLong || line.count > lineBytesMax ? .tooLong : .text(line))
  }

  private func noteBeginning(_ line: UnsafeBufferPointer<UInt8>) {
    guard readsBeginning, beginning == nil,
      line.contains(where: { $0 != 0x20 && $0 != 0x09 && $0 != 0x0D })
    else { return }
    beginning = (lineNumber + 1, Array(line.prefix(lineBytesMax)))
  }

  /// The shape of the file when the line that was given last is the first of it, and no object.
  var shape: FileShape? {
    guard let beginning, beginning.line == lineNumber else { return nil }
    return FileShape(firstLine: beginning.bytes)
  }

  private func newline(from searched: Int) -> Int? {
    let bytes = window.bytes
    guard searched < bytes.count, let base = bytes.baseAddress,
      let found = memchr(base + searched, CInt(UInt8(ascii: "\n")), bytes.count - searched)
    else { return nil }
    return UnsafeRawPointer(found) - UnsafeRawPointer(base)
  }
}

extension LineReader.Line {
  /// Returns the part of a line that is to be parsed; nil for a blank one. Borrowed, as the line is.
  func document() throws(InvalidField) -> UnsafeBufferPointer<UInt8>? {
    guard case .text(var bytes) = self else {
      throw InvalidField(
        pointer: "", message: "the line is longer than \(Limits.installationBytesMax) bytes")
    }
    // What editors on Windows put before a text; several texts may have been joined to one file.
    if bytes.starts(with: ByteOrderMark.utf8) {
      bytes = UnsafeBufferPointer(rebasing: bytes.dropFirst(ByteOrderMark.utf8.count))
    }
    // A blank line, or what such an editor leaves of one.
    return bytes.allSatisfy { $0 == 0x20 || $0 == 0x0D || $0 == 0x09 } ? nil : bytes
  }
}

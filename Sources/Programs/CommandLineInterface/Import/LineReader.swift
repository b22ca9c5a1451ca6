internal import Glibc

/// Reads lines out of a file or a pipe in constant memory.
final class LineReader {
  /// What a line can be.
  enum Line {
    /// Its bytes without the newline, valid during the call.
    case text(UnsafeBufferPointer<UInt8>)
    /// Longer than the limit, and passed over.
    case tooLong
  }

  private let descriptor: CInt
  private let name: String
  private let lineBytesMax: Int
  private let buffer: UnsafeMutableBufferPointer<UInt8>
  private var start = 0
  private var end = 0
  private var hasEnded = false
  /// Counted from 1: the line that `next` gave last.
  private(set) var lineNumber: Int
  /// Where the next line begins.
  private(set) var offset: Int64

  /// - Parameter name: for messages.
  init(
    descriptor: CInt, name: String, lineBytesMax: Int, position: ImportPosition = ImportPosition()
  ) {
    self.descriptor = descriptor
    self.name = name
    self.lineBytesMax = lineBytesMax
    buffer = .allocate(capacity: max(CommandLineLimits.readBytes, lineBytesMax * 2))
    lineNumber = position.lines
    offset = position.offset
  }

  deinit { buffer.deallocate() }

  /// Calls the body with the next line.
  /// - Returns: nil at the end of the file.
  func next<Value>(_ body: (Line) -> Value) throws(CommandFailure) -> Value? {
    var isTooLong = false
    var searched = start
    while true {
      if let newline = newline(from: searched) {
        return finish(lineEnd: newline, next: newline + 1, isTooLong, body)
      }
      if hasEnded {
        guard start < end || isTooLong else { return nil }
        return finish(lineEnd: end, next: end, isTooLong, body)
      }
      if end - start > lineBytesMax {
        // Only its length matters now.
        offset += Int64(end - start)
        start = end
        isTooLong = true
      }
      let unread = end - start
      try fill()
      searched = start + unread
    }
  }

  private func finish<Value>(
    lineEnd: Int, next: Int, _ isTooLong: Bool, _ body: (Line) -> Value
  ) -> Value {
    let line = UnsafeBufferPointer(rebasing: buffer[start..<lineEnd])
    offset += Int64(next - start)
    start = next
    lineNumber += 1
    return body(isTooLong || line.count > lineBytesMax ? .tooLong : .text(line))
  }

  private func newline(from searched: Int) -> Int? {
    guard searched < end, let base = buffer.baseAddress,
      let found = memchr(base + searched, CInt(UInt8(ascii: "\n")), end - searched)
    else { return nil }
    return UnsafeRawPointer(found) - UnsafeRawPointer(base)
  }

  /// A pipe or a terminal may stay silent for ever; a signal is answered meanwhile.
  private func waitForInput() throws(CommandFailure) {
    var input = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while poll(&input, 1, CommandLineLimits.signalCheckMs) == 0 {
      try Interrupts.shared.check()
    }
  }

  /// Reads more behind what is there, which moves to the front.
  private func fill() throws(CommandFailure) {
    if start > 0, let base = buffer.baseAddress {
      memmove(base, base + start, end - start)
      end -= start
      start = 0
    }
    while true {
      try waitForInput()
      let count = read(descriptor, buffer.baseAddress! + end, buffer.count - end)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw InputFile.failure(name) }
      hasEnded = count == 0
      end += count
      return
    }
  }
}

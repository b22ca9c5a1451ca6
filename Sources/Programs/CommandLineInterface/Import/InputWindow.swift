internal import Glibc
internal import ProgramSetup

/// The part of a file or a pipe that has been read and is still to be used.
final class InputWindow {
  private let descriptor: CInt
  private let name: String
  private let readBytesMax: Int
  private let buffer: UnsafeMutableBufferPointer<UInt8>
  private var start = 0
  private var end = 0
  private(set) var hasEnded = false

  /// - Parameters:
  ///   - name: for messages.
  ///   - capacity: the most bytes that are held at once.
  ///   - readBytesMax: the most that one read takes.
  init(
    descriptor: CInt, name: String, capacity: Int,
    readBytesMax: Int = CommandLineLimits.readBytes
  ) {
    self.descriptor = descriptor
    self.name = name
    self.readBytesMax = readBytesMax
    buffer = .allocate(capacity: capacity)
  }

  deinit { buffer.deallocate() }

  var count: Int { end - start }

  /// Valid until the next `fill`.
  var bytes: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(rebasing: buffer[start..<end]) }

  /// Gives up the first bytes.
  func drop(_ count: Int) { start += count }

  /// Reads more behind what is there; there must be room.
  func fill() throws(CommandFailure) {
    if start > 0, let base = buffer.baseAddress {
      memmove(base, base + start, end - start)
      end -= start
      start = 0
    }
    while true {
      try waitForInput()
      let count = read(
        descriptor, buffer.baseAddress! + end, min(buffer.count - end, readBytesMax))
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw InputFile.failure(name) }
      hasEnded = count == 0
      end += count
      return
    }
  }

  /// A pipe or a terminal may stay silent for ever; a signal is answered meanwhile.
  private func waitForInput() throws(CommandFailure) {
    var input = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while poll(&input, 1, CommandLineLimits.signalCheckMs) == 0 {
      try Interrupts.shared.check()
    }
  }
}

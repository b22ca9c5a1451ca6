internal import Glibc
internal import ProgramSetup

/// A file that a command was given, or standard input.
enum InputFile {
  /// All of it, up to a limit, without a byte order mark.
  static func read(_ name: String, bytesMax: Int) throws(CommandFailure) -> [UInt8] {
    let descriptor = try open(name)
    defer { close(descriptor, name) }
    var bytes: [UInt8] = []
    let chunk = UnsafeMutableRawBufferPointer.allocate(
      byteCount: CommandLineLimits.readBytes, alignment: 1)
    defer { chunk.deallocate() }
    while true {
      let count = Glibc.read(descriptor, chunk.baseAddress, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw failure(name) }
      guard count > 0 else {
        return bytes.starts(with: ByteOrderMark.utf8)
          ? Array(bytes.dropFirst(ByteOrderMark.utf8.count)) : bytes
      }
      bytes.append(contentsOf: chunk[..<count])
      guard bytes.count <= bytesMax else {
        throw CommandFailure(.badInput, "\(shown(name)) is longer than \(bytesMax) bytes")
      }
    }
  }

  /// Opens the file for reading; `-` is standard input.
  static func open(_ name: String) throws(CommandFailure) -> CInt {
    if name == "-" {
      if isatty(STDIN_FILENO) == 1 {
        Console.standard.note("reading standard input; end it with Ctrl-D")
      }
      return STDIN_FILENO
    }
    let descriptor = Glibc.open(name, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(name) }
    return descriptor
  }

  static func close(_ descriptor: CInt, _ name: String) {
    if name != "-" { Glibc.close(descriptor) }
  }

  static func shown(_ name: String) -> String { name == "-" ? "standard input" : name }

  static func failure(_ name: String) -> CommandFailure {
    CommandFailure(
      .badInput, "\(shown(name)) cannot be read: \(String(cString: strerror(errno)))")
  }
}

/// The mark that some editors put before a text; JSON does not have it, and a reader may pass over it (RFC 8259, 8.1).
enum ByteOrderMark {
  static let utf8: [UInt8] = [0xEF, 0xBB, 0xBF]
}

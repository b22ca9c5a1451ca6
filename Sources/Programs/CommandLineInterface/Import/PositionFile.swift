internal import Glibc
internal import Model
internal import ProgramSetup
internal import Typesetting

/// The file that says how far the import of another file has come. It holds the digest of what is before that
/// place: a position is taken up only while the file still begins as it did.
final class PositionFile {
  private static let bytesMax = 4_096

  let path: String
  private let input: ImportInput
  private let digest: PrefixDigest

  /// Where the position of an input is kept unless another place is named; nil when the input cannot be read
  /// again, or its name does not say which file it is.
  static func usual(of input: ImportInput) -> String? {
    let name = input.name
    let isAlias = name == "-" || name.hasPrefix("/dev/") || name.hasPrefix("/proc/")
    return input.status.isRegular && !isAlias ? "\(name).position" : nil
  }

  /// - Throws: when the path leads to the input, or to anything that is no position.
  init(_ path: String, of input: ImportInput) throws(CommandFailure) {
    guard input.status.isRegular else {
      throw CommandFailure(
        .usage,
        "\(InputFile.shown(input.name)) cannot be read again: --position and --resume need a file")
    }
    self.path = path
    self.input = input
    digest = PrefixDigest(descriptor: input.descriptor)
    guard let status = FileStatus(path: path) else { return }
    try input.check(isNot: status, option: "--position")
    guard status.isRegular else {
      throw CommandFailure(.badInput, "\(path) is not a regular file: name another as --position")
    }
    _ = try content()
  }

  /// The position that is kept; nil when there is none.
  /// - Throws: when it is another file's, or the input has changed since.
  func read() throws(CommandFailure) -> ImportPosition? {
    guard let (position, sha256) = try content() else { return nil }
    guard digest.extend(to: position.offset) == sha256 else {
      throw CommandFailure(
        .badInput,
        "\(path) does not fit \(input.name): it belongs to another file, or a line up to "
          + "\(FigureText.count(position.lines)) has changed since; import it without --resume")
    }
    return position
  }

  private func content() throws(CommandFailure) -> (ImportPosition, sha256: String)? {
    guard access(path, F_OK) == 0 else { return nil }
    let bytes = try InputFile.read(path, bytesMax: Self.bytesMax)
    guard !bytes.isEmpty else { return nil }
    guard let object = (try? JSONParser().parse(bytes))?.objectValue,
      let offset = object["offset"]?.int64Value, let lines = object["lines"]?.int64Value,
      let sha256 = object["sha256"]?.stringValue, offset >= 0, lines >= 0
    else {
      throw CommandFailure(
        .badInput,
        "\(path) is not a position that import wrote; name another place with --position, or remove it"
      )
    }
    return (ImportPosition(offset: offset, lines: Int(lines)), sha256)
  }

  /// Replaces the file in one step, so that a crash leaves the old position or the new one.
  /// - Parameter position: not before one that was read or written.
  func write(_ position: ImportPosition) throws(CommandFailure) {
    guard let sha256 = digest.extend(to: position.offset) else {
      throw CommandFailure(.badInput, "\(input.name) became shorter while it was imported")
    }
    let json: JSONObject = [
      "offset": .integer(position.offset), "lines": .integer(position.lines),
      "sha256": .string(sha256),
    ]
    let bytes = JSONValue.object(json).bytes() + [UInt8(ascii: "\n")]
    try ReplacedFile.write(bytes, to: path)
  }

  func remove() { unlink(path) }
}

/// A place in a file that is imported: what stands before it is installed, or was refused and named.
struct ImportPosition: Equatable, Sendable {
  var offset: Int64 = 0
  var lines = 0
}

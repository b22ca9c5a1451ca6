internal import Glibc
internal import Model

/// How far an import has come: what is before it is installed.
struct ImportPosition: Equatable, Sendable {
  var offset: Int64 = 0
  var lines = 0

  private static let bytesMax = 4_096

  /// Where the position of a file is kept unless another place is named.
  static func file(of input: String) -> String { "\(input).position" }

  /// What a position file says; nil when there is none.
  static func read(_ path: String) throws(CommandFailure) -> ImportPosition? {
    guard access(path, F_OK) == 0 else { return nil }
    let bytes = try InputFile.read(path, bytesMax: bytesMax)
    guard let object = (try? JSONParser().parse(bytes))?.objectValue,
      let offset = object["offset"]?.int64Value, let lines = object["lines"]?.int64Value,
      offset >= 0, lines >= 0
    else {
      throw CommandFailure(
        .badInput, "\(path) is not a position that import wrote; remove it to begin anew")
    }
    return ImportPosition(offset: offset, lines: Int(lines))
  }

  /// Replaces the file in one step, so that a crash leaves the old position or the new one.
  /// - Returns: false when it cannot be written.
  func write(_ path: String) -> Bool {
    let json: JSONObject = ["offset": .integer(offset), "lines": .integer(lines)]
    let bytes = JSONValue.object(json).bytes() + [UInt8(ascii: "\n")]
    let fresh = path + ".new"
    let descriptor = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return false }
    let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    close(descriptor)
    return count == bytes.count && rename(fresh, path) == 0
  }
}

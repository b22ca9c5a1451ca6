internal import Typesetting

/// The shape of a file that should be JSON objects, one a line, and is not; told by its first line.
enum FileShape: Equatable {
  /// Values with this byte between them.
  case csv(separator: UInt8)
  /// `[…]`, perhaps over several lines.
  case array
  /// An object that does not end with its line.
  case longObject
  /// `{"results": […]}`, as Parse and NCMB export.
  case results
  case gzip
  case utf16
  /// Something else that is no JSON object.
  case other

  /// The command that reads lines, and what a line of it says.
  enum Reader {
    case installations
    /// The command's name.
    case subscriptions(String)

    fileprivate var command: String {
      switch self {
      case .installations: "import"
      case .subscriptions(let name): name
      }
    }

    /// In the order of the example.
    fileprivate var fields: [String] {
      switch self {
      case .installations: ["app", "user", "network", "token"]
      case .subscriptions: ["app", "topic", "user"]
      }
    }
  }

  /// Nil when the line is an object, or would be one but for a mistake in it.
  /// - Parameter line: the first that is not blank; of a long one its beginning may do.
  init?(firstLine line: some Collection<UInt8>) {
    if line.starts(with: [0x1F, 0x8B]) {
      self = .gzip
      return
    }
    if line.starts(with: [0xFF, 0xFE]) || line.starts(with: [0xFE, 0xFF]) {
      self = .utf16
      return
    }
    var text = Array(line)
    if text.starts(with: ByteOrderMark.utf8) { text.removeFirst(ByteOrderMark.utf8.count) }
    text = Array(text.drop { Self.isBlank($0) })
    switch text.first {
    case UInt8(ascii: "[")?: self = .array
    case UInt8(ascii: "{")?:
      let words = text.lazy.filter { !Self.isBlank($0) }
      if words.starts(with: #"{"results":["#.utf8) {
        self = .results
      } else if Self.isOpen(text) {
        self = .longObject
      } else {
        return nil
      }
    default:
      let separators = [",", ";", "\t"].map { Character($0).asciiValue! }
      // Of several the most frequent one: others may be part of values.
      let found = separators.map { byte in (byte, text.count { $0 == byte }) }
        .max { $0.1 < $1.1 }
      if let found, found.1 > 0 { self = .csv(separator: found.0) } else { self = .other }
    }
  }

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0D
  }

  private static func isOpen(_ text: [UInt8]) -> Bool {
    text.withUnsafeBufferPointer { bytes in
      var scanner = ElementScanner()
      return scanner.scan(bytes[...]) == .open
    }
  }

  /// Says what the file looks like, what is expected, and the command that takes it.
  /// - Parameter name: the file's; `-` for standard input.
  func advice(name: String, to reader: Reader) -> String {
    let file = name == "-" ? "" : " \(ShellWord.quoted(name))"
    let pipe = "| pushpool \(reader.command) -"
    let expected = "\(reader.command) reads one JSON object a line"
    switch self {
    case .csv(let separator):
      let mark = separator == 0x09 ? #"\t"# : String(UnicodeScalar(separator))
      let fields = reader.fields.enumerated().map { "\($1): .[\($0)]" }.joined(separator: ", ")
      return "the file looks like CSV, and \(expected): number its columns from 0 in this command, "
        + "which leaves out a heading: tail -n +2\(file) | jq -Rc 'rtrimstr(\"\\r\") | "
        + "split(\"\(mark)\") | {\(fields)}' \(pipe)"
    case .array:
      return "the file is one JSON array, and \(expected): jq -c '.[]'\(file) \(pipe)"
    case .longObject:
      return "an object goes over several lines, and \(expected): jq -c .\(file) \(pipe)"
    case .results:
      guard case .installations = reader else {
        return "\(expected), and this is an export of Parse or NCMB"
      }
      return "the file looks like an export of Parse or NCMB: pushpool import "
        + "\(name == "-" ? "-" : ShellWord.quoted(name)) --format parse --app APP, or --format ncmb"
    case .gzip: return "the file is compressed: zcat\(file) \(pipe)"
    case .utf16: return "the file is UTF-16: iconv -f UTF-16 -t UTF-8\(file) \(pipe)"
    case .other: return "\(expected): pushpool \(reader.command) --help shows some"
    }
  }
}

import LocalServices

/// Files of installations of the app "shop", as `pushpool import` reads them.
enum ImportFile {
  static func token(_ index: Int) -> String {
    let digits = String(index, radix: 16)
    return String(repeating: "0", count: 64 - digits.count) + digits
  }

  static func line(_ index: Int, user: String? = nil) -> String {
    #"{"app":"shop","user":"\#(user ?? "u\(index)")","network":"apns","token":"\#(token(index))"}"#
  }

  /// Writes the lines, each with its newline.
  static func write(
    _ lines: [String], to name: String = "in.ndjson", in folder: TemporaryFolder
  ) throws -> String {
    let path = folder.file(name)
    try PrivateFile.write(lines.joined(separator: "\n") + "\n", to: path)
    return path
  }
}

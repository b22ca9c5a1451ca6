internal import Foundation

/// Text that never shows in a description, a dump or a log.
package struct Secret: Sendable, Equatable {
  /// The secret itself, for the one place that sends it.
  package let text: String

  package init(_ text: String) { self.text = text }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "(secret)" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// A file that holds one secret.
package enum SecretFile {
  /// The text of the file without the newlines at its end and a byte order mark in front.
  package static func read(_ path: String, field: String) throws(ConfigurationError) -> Secret {
    func refused(_ message: String) -> ConfigurationError {
      ConfigurationError(file: path, line: nil, field: field, message: message)
    }
    if let problem = FileCheck.problem(path) { throw refused(problem) }
    guard let handle = FileHandle(forReadingAtPath: path),
      let data = try? handle.read(upToCount: ConfigurationLimits.secretFileBytesMax + 1)
    else { throw refused("cannot be read, or is empty") }
    guard data.count <= ConfigurationLimits.secretFileBytesMax else {
      throw refused("is longer than \(ConfigurationLimits.secretFileBytesMax) bytes")
    }
    guard var text = String(validating: data, as: UTF8.self) else {
      throw refused("is not valid UTF-8: save it as UTF-8, without a byte order mark")
    }
    // Some editors of Windows put it in front; no secret begins with it.
    if text.unicodeScalars.first == "\u{feff}" { text.unicodeScalars.removeFirst() }
    while text.last?.isNewline == true { text.removeLast() }
    guard !text.isEmpty else { throw refused("is empty") }
    return Secret(text)
  }
}

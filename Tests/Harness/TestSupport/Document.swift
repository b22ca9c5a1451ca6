internal import LocalServices

/// The project's documents, so that tests can hold them against the code.
package enum Document {
  /// - Parameter path: such as `docs/guides/recipes.md`.
  package static func text(_ path: String) -> String {
    guard let text = TextFile.read("\(repository)/\(path)", bytesMax: 1 << 20) else {
      preconditionFailure("\(path) is missing")
    }
    return text
  }

  private static let repository =
    "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
}

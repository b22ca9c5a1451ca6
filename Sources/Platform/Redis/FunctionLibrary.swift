/// A Redis Functions library whose version is part of every name, so that old and new workers coexist.
package struct FunctionLibrary: Sendable {
  package let name: String
  package let version: String
  /// Every `@VERSION@` of the source replaced.
  package let source: String

  /// - Parameters:
  ///   - name: of the library; its first line must read `#!lua name=<name>_@VERSION@`.
  ///   - version: letters and digits that change with the source, such as the start of its SHA-256.
  package init(name: String, version: String, template: String) {
    self.name = "\(name)_\(version)"
    self.version = version
    let parts = template.split(separator: "@VERSION@", omittingEmptySubsequences: false)
    source = parts.joined(separator: version)
  }
}

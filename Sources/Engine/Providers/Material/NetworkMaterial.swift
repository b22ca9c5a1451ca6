package import Model
internal import PushpoolConfiguration

/// An app's material at a push network, of which entries of a directory are made.
package protocol NetworkMaterial: Sendable {
  /// The environments of each entry that is made of it.
  var entries: [Set<PushEnvironment>] { get }

  /// Makes one of its entries.
  /// - Parameters:
  ///   - environments: one of `entries`.
  ///   - limits: the rates of the app.
  /// - Throws: the part of it that cannot be used.
  func entry(
    for environments: Set<PushEnvironment>, of app: String, _ limits: [RateLimit],
    by builder: inout ProviderBuilder
  ) throws(MaterialProblem) -> ProviderDirectory.Entry
}

/// The settings of an account, whose files are read.
protocol AccountSettings {
  /// - Returns: nil when a file cannot be read, which the files note.
  func material(from files: AppFiles) -> (any NetworkMaterial)?
}

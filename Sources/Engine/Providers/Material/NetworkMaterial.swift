package import Model
internal import PushpoolConfiguration

/// An app's material at a push network, of which entries of a directory are made.
package protocol NetworkMaterial: Sendable {
  /// Makes the entries of an app.
  /// - Parameter limits: the rates of the app.
  /// - Returns: each entry, or the part of the material that cannot be used for it.
  func entries(
    of app: String, _ limits: [RateLimit], by builder: inout ProviderBuilder
  ) -> [Result<ProviderDirectory.Entry, MaterialProblem>]
}

/// The settings of an account, whose files are read.
protocol AccountSettings {
  /// - Returns: nil when a file cannot be read, which the files note.
  func material(from files: AppFiles) -> (any NetworkMaterial)?
}

/// An account in the form of an app of Redis, whose secrets are given.
protocol AccountForm {
  /// - Returns: nil when a secret is missing.
  func material(with secrets: GivenSecrets) -> (any NetworkMaterial)?
}

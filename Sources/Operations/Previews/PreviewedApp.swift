internal import HTTPClient
package import Model
internal import Providers
package import PushpoolConfiguration
package import Store

/// The app that a job is previewed for: its networks, as workers send by them. Nothing is sent by these.
package struct PreviewedApp: Sendable {
  let directory: ProviderDirectory
  /// Where it is at home; nil for UTC.
  let timeZone: String?

  /// An app of a configuration.
  /// - Throws: when a key, account or certificate that the configuration names for the app cannot be used.
  package init(_ id: String, of configuration: Configuration) throws(ConfigurationError) {
    // The client would exchange tokens, which nobody asks for.
    let apps = try ConfiguredApps(configuration, client: HTTPClient())
    if let error = apps.errors[id]?.first { throw error }
    directory = apps.directory
    timeZone = configuration.app(id)?.timeZone
  }

  /// An app that stands in Redis.
  /// - Parameter keys: open its secrets.
  /// - Throws: when a secret cannot be opened or used; the pointer is its place.
  package init(_ record: AppRecord, keys: SealingKeys) throws(InvalidField) {
    let secrets: [AppSecretName: AppSecret]
    do throws(AppRecordFault) { secrets = try record.open(keys) } catch {
      throw InvalidField(pointer: error.pointer, message: error.message)
    }
    directory = try ProviderDirectory(
      rendering: AppMaterial(id: record.id, record.form, secrets: secrets))
    timeZone = record.form.rules.timeZone
  }
}

internal import Model
internal import Providers

/// A destination as alarms and the log name it.
struct DestinationName {
  let app: String
  let network: String
  /// The only environment; `all` where one provider sends to both.
  let environment: String

  init(_ entry: ProviderDirectory.Entry) {
    app = entry.app
    network = entry.provider.network.rawValue
    let environments = entry.environments
    environment = environments.count == 1 ? environments.first!.rawValue : "all"
  }
}

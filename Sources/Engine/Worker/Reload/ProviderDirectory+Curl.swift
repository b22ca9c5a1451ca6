internal import HTTPClient
internal import Model
internal import Providers
internal import PushpoolConfiguration

extension ProviderDirectory {
  /// Says what is wrong with the linked libcurl, where pushes are to go over it.
  func checkCurl() throws(ConfigurationError) {
    guard let unfitness = CurlLibrary.unfitness,
      let first = entries.first(where: { $0.provider.destination.acceptsHTTP1 })
    else { return }
    throw ConfigurationError(
      file: "configuration", line: nil,
      field: "apps[\(first.app)].\(first.provider.network.rawValue)",
      message: "needs another libcurl than \(CurlLibrary.version), which carries its pushes: "
        + unfitness)
  }
}

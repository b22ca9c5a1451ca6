/// An account at a network that is played on this machine: how workers and the stand-in are told of it.
package protocol PlayedAccount: Sendable {
  /// The members of its section in the configuration of an app, beside those that say how the network is reached.
  /// - Parameter path: writes the path of a file so that it holds wherever the configuration lies.
  func members(of app: ConfigurationText.App, path: (String) -> String) -> [String]

  /// The options by which pushpool-simulator knows it.
  var simulatorOptions: [String] { get }

  /// Its files and identifiers, as `pushpool-simulator keys` tells them.
  var listing: [(name: String, value: String)] { get }
}

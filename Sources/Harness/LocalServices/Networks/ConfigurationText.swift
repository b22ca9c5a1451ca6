import Glibc
package import Model

/// A configuration that leads workers to simulated push networks.
package struct ConfigurationText: Sendable {
  /// An app, and where its networks are played.
  package struct App: Sendable {
    package var id: String
    /// `https://host:port` for each environment of APNs's that the app has.
    package var apns: [PushEnvironment: String]
    /// `https://host:port` of each other network that the app has.
    package var others: [Network: String]
    /// Nil for the limit that FCM gives a project.
    package var messagesPerMinute: Int?
    /// APNs's signing key in place of the stage's, under the same key id.
    package var apnsKeyFile: String?
    /// FCM's account in place of the stage's.
    package var serviceAccountFile: String?
    /// Further members of the app, such as `pushes_per_second: 100`.
    package var members: [String] = []

    package init(
      id: String = "shop", apns: [PushEnvironment: String], others: [Network: String] = [:],
      messagesPerMinute: Int? = nil
    ) {
      self.id = id
      self.apns = apns
      self.others = others
      self.messagesPerMinute = messagesPerMinute
    }

    /// The same address for each network but APNs.
    package static func others(at endpoint: String) -> [Network: String] {
      let others = Network.allCases.filter { $0 != .apns }
      return Dictionary(uniqueKeysWithValues: others.map { ($0, endpoint) })
    }
  }

  /// One of several Redis, in place of the one.
  package struct Shard: Sendable {
    package var id: String
    package var url: String

    package init(id: String, url: String) {
      self.id = id
      self.url = url
    }
  }

  package var redisURL: String
  /// The shards of a fleet of several, the home first; empty for a fleet of one.
  package var shards: [Shard] = []
  /// The beginning of all keys; nil for the usual one.
  package var prefix: String?
  package var apps: [App]
  /// The risks that are accepted of this Redis, by its words in the configuration: a stage's keeps nothing.
  package var acceptedRisks: [RedisRisk] = []
  /// The level of the worker's log; nil for its own default.
  package var logLevel: String?
  /// Members of the section `worker`, such as `lanes: 1`.
  package var worker: [String] = []
  /// Further sections, a line each.
  package var sections: [String] = []
  /// Further members of every network, such as `proxy: "http://proxy:3128"`.
  package var access: [String] = []

  package init(redisURL: String, apps: [App]) {
    self.redisURL = redisURL
    self.apps = apps
  }

  /// The YAML. Paths are absolute, so that it holds wherever it lies.
  package func text(_ keys: NetworkKeys) -> String {
    let risks = acceptedRisks.map(\.rawValue).joined(separator: " ")
    let accepted = risks.isEmpty ? "" : ", accepted_risks: \(quoted(risks))"
    let beginning = prefix.map { ", prefix: \(quoted($0))" } ?? ""
    var lines = ["redis: {url: \(quoted(redisURL))\(beginning)\(accepted)}"]
    if let home = shards.first {
      lines = ["redis:", "  home: \(home.id)", "  shards:"]
      lines += shards.map {
        "    - {id: \($0.id), url: \(quoted($0.url))\(beginning)\(accepted)}"
      }
    }
    if let logLevel { lines.append("log: {level: \(logLevel)}") }
    if !worker.isEmpty { lines += ["worker:"] + worker.map { "  \($0)" } }
    lines += sections
    lines.append("apps:")
    for app in apps { lines += self.lines(of: app, keys) }
    return lines.joined(separator: "\n") + "\n"
  }

  private func lines(of app: App, _ keys: NetworkKeys) -> [String] {
    var lines = ["  - id: \(app.id)"] + app.members.map { "    \($0)" }
    for network in Network.allCases {
      let members = keys.account(at: network).members(of: app) { path($0) }
      if network == .apns {
        if !app.apns.isEmpty { lines.append("    \(network.rawValue):") }
        for environment in PushEnvironment.allCases {
          guard let endpoint = app.apns[environment] else { continue }
          lines.append("      \(environment.rawValue):")
          lines += (members + ways(to: endpoint, keys)).map { "        \($0)" }
        }
      } else if let endpoint = app.others[network] {
        lines.append("    \(network.rawValue):")
        lines += (members + ways(to: endpoint, keys)).map { "      \($0)" }
      }
    }
    return lines
  }

  private func ways(to endpoint: String, _ keys: NetworkKeys) -> [String] {
    ["endpoint: \(endpoint)", "ca_file: \(path(keys.authorityFile))"] + access
  }

  private func path(_ file: String) -> String {
    guard let resolved = realpath(file, nil) else { return quoted(file) }
    defer { free(resolved) }
    return quoted(String(cString: resolved))
  }

  /// A scalar of YAML in single quotes.
  private func quoted(_ text: String) -> String {
    "'" + text.replacing("'", with: "''") + "'"
  }
}

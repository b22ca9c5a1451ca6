internal import Model
internal import Yams

/// Where a server listens, and whom it believes.
package struct ServeConfiguration: Sendable, Equatable {
  package static let listenDefault = HostAndPort(host: "127.0.0.1", port: 8080)

  /// Where the API and the dashboard are. Port 0 is one that the system chooses.
  package var listen: HostAndPort
  /// Where `/metrics` is; nil for nowhere.
  package var metricsListen: HostAndPort?
  /// The keys of what app backends sign for their users.
  package var userTokens: [UserTokenConfiguration]
  /// Addresses and networks (`10.0.0.0/8`) of proxies, whose word on the address of a client counts. Each can be read by
  /// `AddressRange`.
  package var trustedProxies: [String]

  package init(
    listen: HostAndPort = Self.listenDefault, metricsListen: HostAndPort? = nil,
    userTokens: [UserTokenConfiguration] = [], trustedProxies: [String] = []
  ) {
    self.listen = listen
    self.metricsListen = metricsListen
    self.userTokens = userTokens
    self.trustedProxies = trustedProxies
  }
}

extension ServeConfiguration {
  /// The word in `metrics_listen` for no listener.
  private static let off = "off"

  init(in root: ConfigurationSection) throws(ConfigurationError) {
    let section = try root.section(
      "serve", known: ["listen", "metrics_listen", "user_tokens", "trusted_proxies"])
    self.init(
      listen: try Self.address("listen", in: section) ?? Self.listenDefault,
      metricsListen: try Self.address("metrics_listen", in: section, canBeOff: true),
      userTokens: try section.source.reading(else: []) { () throws(ConfigurationError) in
        try UserTokenConfiguration.list(in: section)
      },
      trustedProxies: try section.source.reading(else: []) { () throws(ConfigurationError) in
        try Self.proxies(in: section)
      })
    if let metricsListen, metricsListen == listen, listen.port != 0 {
      try section.source.refuse(
        section.scalar("metrics_listen")?.refused(
          "must differ from serve.listen: /metrics has a listener of its own")
          ?? section.missing("metrics_listen", "must differ from serve.listen"))
    }
  }

  private static func address(
    _ name: String, in section: ConfigurationSection, canBeOff: Bool = false
  ) throws(ConfigurationError) -> HostAndPort? {
    guard let scalar = try section.scalar(name) else { return nil }
    if canBeOff, scalar.text == off { return nil }
    guard let address = HostAndPort(listening: scalar.text) else {
      try section.source.refuse(
        scalar.refused(
          "must be HOST:PORT, such as 127.0.0.1:8080, 0.0.0.0:8080 or [::1]:8080"
            + (canBeOff ? ", or off" : "")))
      return nil
    }
    return address
  }

  private static func proxies(
    in section: ConfigurationSection
  ) throws(ConfigurationError) -> [String] {
    let words = try section.words("trusted_proxies", max: ConfigurationLimits.trustedProxiesMax)
    var proxies: [String] = []
    for word in words {
      guard AddressRange(word.text) != nil else {
        throw word.refused(
          "must be addresses or networks, such as 127.0.0.1, ::1 or 10.0.0.0/8; "
            + "\"\(FieldPointer.printable(word.text))\" is none"
        )
      }
      proxies.append(word.text)
    }
    return proxies
  }
}

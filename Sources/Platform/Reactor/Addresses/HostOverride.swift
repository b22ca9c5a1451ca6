#if DEBUG
  internal import Glibc

  /// Addresses of host names that come from the environment in place of a name server: in debug builds only, for tests.
  ///
  /// `PUSHPOOL_HOSTS="push.test=127.0.0.2,127.0.0.3;silent.test="` gives the first host two addresses, and the second
  /// one a name server that answers nothing within half a minute.
  enum HostOverride {
    private static let silenceSeconds: UInt32 = 30

    private static let hosts: [String: [String]] = {
      guard let text = getenv("PUSHPOOL_HOSTS").map({ String(cString: $0) }) else { return [:] }
      var hosts: [String: [String]] = [:]
      for entry in text.split(separator: ";") {
        let parts = entry.split(separator: "=", omittingEmptySubsequences: false)
        hosts[String(parts[0])] =
          parts.count > 1 ? parts[1].split(separator: ",").map { String($0) } : []
      }
      return hosts
    }()

    /// Returns the addresses that are given for a host; nil when it is not named.
    static func lookUp(_ host: String) -> Resolver.Answer? {
      guard let addresses = hosts[host] else { return nil }
      if addresses.isEmpty {
        sleep(silenceSeconds)
        return .failure(.resolve(host: host, reason: "no answer from the name server"))
      }
      return .success(
        addresses.flatMap {
          (try? SocketAddress.lookUp(host: $0, port: 0, numericOnly: true).get()) ?? []
        })
    }
  }
#endif

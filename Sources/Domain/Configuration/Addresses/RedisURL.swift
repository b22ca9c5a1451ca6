package import Model

/// Where Redis is: `redis://`, `unix://`, `redis+sentinel://` or `redis+cluster://`, and the same with `rediss` for TLS. Its
/// description leaves the password out.
package struct RedisURL: Sendable, Equatable {
  package enum Server: Sendable, Equatable {
    case tcp(host: String, port: UInt16, tls: Bool)
    case unix(path: String)
    /// Whoever these call the master of that name.
    case sentinels([HostAndPort], master: String, tls: Bool)
    /// The node that serves our keys: any of these knows it.
    case cluster([HostAndPort], tls: Bool)
  }

  package static let defaultPort: UInt16 = 6379
  package static let sentinelPort: UInt16 = 26379
  private static let schemes = ["redis", "rediss", "unix"] + groupSchemes
  private static let groupSchemes = [
    "redis+sentinel", "rediss+sentinel", "redis+cluster", "rediss+cluster",
  ]

  package var server: Server
  package var user: String?
  package var password: Secret?
  package var database: Int

  package init(server: Server, user: String? = nil, password: Secret? = nil, database: Int = 0) {
    self.server = server
    self.user = user
    self.password = password
    self.database = database
  }

  /// `redis[s]://[user]:[password]@host[:port][/database]`, `unix://[user:password@]/path[?db=N]`,
  /// `redis[s]+sentinel://[user:password@]host[:port],…/name[?db=N]` or
  /// `redis[s]+cluster://[user:password@]host[:port],…`, with reserved characters of user and password
  /// percent-encoded. The error's pointer is empty.
  package init(_ text: String) throws(InvalidField) {
    guard !text.isEmpty, text.utf8.count <= ConfigurationLimits.pathBytesMax,
      text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
    else { throw Self.refused("must be a URL of printable ASCII without spaces") }
    guard let scheme = text.firstRange(of: "://") else { throw Self.unknownScheme }
    var rest = text[scheme.upperBound...]
    let name = text[..<scheme.lowerBound].lowercased()
    guard Self.schemes.contains(name) else { throw Self.unknownScheme }
    (user, password) = try Self.credentials(&rest)
    let tls = name.hasPrefix("rediss")
    switch name {
    case "unix": (server, database) = try Self.unix(rest)
    case "redis", "rediss": (server, database) = try Self.tcp(rest, tls: tls)
    case "redis+cluster", "rediss+cluster":
      (server, database) = (try Self.cluster(rest, tls: tls), 0)
    default: (server, database) = try Self.sentinels(rest, tls: tls)
    }
  }

  private static let unknownScheme = refused(
    "must begin with redis://, rediss:// or unix://, or with redis+sentinel:// or redis+cluster:// "
      + "(rediss+… for TLS)")

  /// Takes `user:password@` off the front.
  private static func credentials(
    _ rest: inout Substring
  ) throws(InvalidField) -> (String?, Secret?) {
    guard let at = rest.lastIndex(of: "@") else { return (nil, nil) }
    let pair = rest[..<at]
    rest = rest[rest.index(after: at)...]
    guard let colon = pair.firstIndex(of: ":") else {
      throw refused("must have user:password@ or :password@ before the host")
    }
    guard let user = PercentEncoding.decode(pair[..<colon]),
      let password = PercentEncoding.decode(pair[pair.index(after: colon)...])
    else { throw refused("must have a valid percent-encoding in user and password") }
    return (user.isEmpty ? nil : user, password.isEmpty ? nil : Secret(password))
  }

  private static func tcp(
    _ text: Substring, tls: Bool
  ) throws(InvalidField) -> (Server, Int) {
    let slash = text.firstIndex(of: "/") ?? text.endIndex
    guard !text[..<slash].contains(",") else {
      throw refused(
        "must name one host: several are sentinels (redis+sentinel://HOSTS/NAME) or nodes of a "
          + "cluster (redis+cluster://HOSTS)")
    }
    guard let host = HostAndPort(text[..<slash], defaultPort: defaultPort) else {
      throw refused("must name a host and, if not \(defaultPort), a port from 1 to 65535")
    }
    let path = text[slash...].dropFirst()
    return (
      .tcp(host: host.host, port: host.port, tls: tls), path.isEmpty ? 0 : try database(path)
    )
  }

  private static func sentinels(
    _ text: Substring, tls: Bool
  ) throws(InvalidField) -> (Server, Int) {
    let slash = text.firstIndex(of: "/") ?? text.endIndex
    let hosts = try hosts(text[..<slash], "its sentinels", defaultPort: sentinelPort)
    let path = text[slash...].dropFirst()
    let question = path.firstIndex(of: "?") ?? path.endIndex
    let master = String(path[..<question])
    // The characters that a Sentinel's own configuration allows.
    guard (1...ConfigurationLimits.masterNameBytesMax).contains(master.utf8.count),
      TextRule.isWord(master, others: ".-_")
    else {
      throw refused(
        "must name the master after the sentinels, as redis+sentinel://HOST/NAME, in 1 to "
          + "\(ConfigurationLimits.masterNameBytesMax) letters, digits or . - _")
    }
    let query = path[question...].dropFirst()
    guard query.isEmpty || query.hasPrefix("db=") else {
      throw refused("knows only ?db= after the name of a master")
    }
    return (
      .sentinels(hosts, master: master, tls: tls),
      query.isEmpty ? 0 : try database(query.dropFirst(3))
    )
  }

  private static func cluster(_ text: Substring, tls: Bool) throws(InvalidField) -> Server {
    let slash = text.firstIndex(of: "/") ?? text.endIndex
    guard ["", "/", "/0"].contains(text[slash...]) else {
      throw refused("must name no database: a Redis Cluster has none but 0")
    }
    let hosts = try hosts(text[..<slash], "nodes of the cluster", defaultPort: defaultPort)
    return .cluster(hosts, tls: tls)
  }

  private static func hosts(
    _ text: Substring, _ what: String, defaultPort: UInt16
  ) throws(InvalidField) -> [HostAndPort] {
    guard let hosts = HostAndPort.list(text, defaultPort: defaultPort) else {
      throw refused(
        "must name \(what), 1 to \(ConfigurationLimits.redisHostsMax) of them with commas between "
          + "them, each once: a host and, if not \(defaultPort), a port from 1 to 65535")
    }
    return hosts
  }

  private static func unix(_ text: Substring) throws(InvalidField) -> (Server, Int) {
    let question = text.firstIndex(of: "?") ?? text.endIndex
    guard let path = PercentEncoding.decode(text[..<question]), path.hasPrefix("/"),
      // sun_path of sockaddr_un(7).
      path.utf8.count < 108
    else { throw refused("must name an absolute path of at most 107 bytes after unix://") }
    let query = text[question...].dropFirst()
    guard !query.isEmpty else { return (.unix(path: path), 0) }
    guard query.hasPrefix("db=") else { throw refused("knows only ?db= after a socket's path") }
    return (.unix(path: path), try database(query.dropFirst(3)))
  }

  private static func database(_ text: Substring) throws(InvalidField) -> Int {
    guard text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let number = Int(text),
      number <= ConfigurationLimits.databaseMax
    else {
      throw refused(
        "must name its database as a number from 0 to \(ConfigurationLimits.databaseMax)")
    }
    return number
  }

  /// Whether both lead to the same database, as far as the texts tell: two names may still be one server.
  func leadsWhere(_ other: RedisURL) -> Bool {
    guard database == other.database else { return false }
    switch (server, other.server) {
    case (.unix(let path), .unix(let others)): return TextRule.isSame(path, others)
    case (.sentinels(_, let master, tls: _), .sentinels(_, let others, tls: _)):
      return master == others && !hosts.isDisjoint(with: other.hosts)
    case (.tcp, .tcp), (.tcp, .cluster), (.cluster, .tcp), (.cluster, .cluster):
      return !hosts.isDisjoint(with: other.hosts)
    case (.unix, _), (.tcp, _), (.cluster, _), (.sentinels, _): return false
    }
  }

  /// The hosts that it names, in one spelling.
  private var hosts: Set<String> {
    switch server {
    case .tcp(let host, let port, tls: _): [HostAndPort.text(host, port).lowercased()]
    case .cluster(let hosts, tls: _), .sentinels(let hosts, master: _, tls: _):
      Set(hosts.map { "\($0)".lowercased() })
    case .unix: []
    }
  }

  /// The URL is not repeated: it may hold a password.
  private static func refused(_ message: String) -> InvalidField {
    InvalidField(pointer: "", message: message)
  }
}

extension RedisURL: CustomStringConvertible {
  package var description: String {
    switch server {
    case .tcp(let host, let port, let tls):
      "\(tls ? "rediss" : "redis")://\(HostAndPort.text(host, port))/\(database)"
    case .unix(let path): "unix://\(path)\(query)"
    case .sentinels(let hosts, let master, let tls):
      "\(tls ? "rediss" : "redis")+sentinel://\(Self.text(hosts))/\(master)\(query)"
    case .cluster(let hosts, let tls):
      "\(tls ? "rediss" : "redis")+cluster://\(Self.text(hosts))"
    }
  }

  private var query: String { database == 0 ? "" : "?db=\(database)" }

  private static func text(_ hosts: [HostAndPort]) -> String {
    hosts.map { "\($0)" }.joined(separator: ",")
  }
}

/// RFC 3986 section 2.1.
enum PercentEncoding {
  /// nil when an escape is cut short, or the bytes are not UTF-8 or hold a NUL.
  static func decode(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.popFirst(), let low = rest.popFirst(),
        let value = UInt8(String(decoding: [high, low], as: UTF8.self), radix: 16),
        high != UInt8(ascii: "+"), high != UInt8(ascii: "-")
      else { return nil }
      bytes.append(value)
    }
    return bytes.contains(0) ? nil : String(validating: bytes, as: UTF8.self)
  }
}

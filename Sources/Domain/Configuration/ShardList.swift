package import Model
internal import Yams

/// A shard of the fleet, and where it is.
package struct ShardConfiguration: Sendable, Equatable {
  package var id: ShardID
  package var redis: RedisConfiguration

  package init(id: ShardID, redis: RedisConfiguration) {
    self.id = id
    self.redis = redis
  }

  /// The server as people may see it, with the shard's name where there are others.
  package var place: String { id.isOnly ? "\(redis.url)" : "\(redis.url) (shard \(id.name))" }
}

/// The shards of a fleet: one, of which the section `redis` says where it is, or those of the list `redis.shards`.
package struct ShardList: Sendable, Equatable {
  /// In the order of the configuration; never empty, and each name and place once.
  package private(set) var all: [ShardConfiguration]
  /// The shard with what the fleet has once.
  package let home: ShardID

  /// The list of a fleet that has one shard.
  package init(_ redis: RedisConfiguration = RedisConfiguration()) {
    all = [ShardConfiguration(id: .only, redis: redis)]
    home = .only
  }

  /// - Parameters:
  ///   - shards: one at least, each with a name of its own.
  ///   - home: the name of one of them.
  package init(_ shards: [ShardConfiguration], home: ShardID) {
    precondition(shards.contains { $0.id == home }, "the home is a shard of the fleet")
    all = shards
    self.home = home
  }

  package var ids: [ShardID] { all.map(\.id) }

  /// The shards, with the home before the others.
  package var homeFirst: [ShardConfiguration] {
    all.filter { $0.id == home } + all.filter { $0.id != home }
  }

  /// Where the fleet's keys are, in a few words.
  package var place: String {
    guard all.count == 1 else { return "in \(all.count) shards, home \(home.name)" }
    return "\(homeRedis.url), prefix \(homeRedis.prefix)"
  }

  /// The shard of an id; nil when there is none.
  package subscript(id: ShardID) -> ShardConfiguration? { all.first { $0.id == id } }

  /// Where the home is. It is the only place of a fleet with one shard.
  package var homeRedis: RedisConfiguration {
    get { all[homeIndex].redis }
    set { all[homeIndex].redis = newValue }
  }

  private var homeIndex: Int { all.firstIndex { $0.id == home } ?? 0 }
}

extension ShardList {
  private static let name = "shards"
  private static let elementFields = ["id"] + RedisConfiguration.fields

  init(in root: ConfigurationSection) throws(ConfigurationError) {
    let section = try root.section(
      RedisConfiguration.usualSection, known: RedisConfiguration.fields + ["home", Self.name])
    guard let node = section.node(Self.name) else {
      self.init(try RedisConfiguration(in: section))
      if let home = try section.scalar("home") {
        try section.source.refuse(
          home.refused("must stand beside redis.shards, of which it names one"))
      }
      return
    }
    let shards = try section.source.reading(else: []) { () throws(ConfigurationError) in
      try Self.elements(of: node, in: section)
    }
    try Self.refuseFieldsOfOne(in: section)
    let home = try Self.home(in: section, of: shards)
    guard let first = shards.first else {
      self.init()
      return
    }
    self.init(shards, home: home ?? first.id)
  }

  /// A field of the section says where one Redis is. A variable or an option that does would lead away from all shards.
  private static func refuseFieldsOfOne(
    in section: ConfigurationSection
  ) throws(ConfigurationError) {
    for field in RedisConfiguration.fields where section.has(field) {
      guard let scalar = try section.scalar(field) else { continue }
      let own =
        scalar.variable.map { "unset it, or set \($0.dropLast(field.utf8.count))SHARDS_ID_…" }
        ?? "give each shard its own"
      try section.source.refuse(
        scalar.refused("is for a fleet with one Redis, and redis.shards lists several: \(own)"))
    }
  }

  private static func elements(
    of node: Node, in section: ConfigurationSection
  ) throws(ConfigurationError) -> [ShardConfiguration] {
    func refused(_ message: String) -> ConfigurationError {
      ConfigurationError(
        file: section.source.file, line: node.mark?.line, field: section.path(to: name),
        message: message)
    }
    guard let items = node.sequence else {
      throw refused("must be a list of shards, each beginning with \"- id:\"")
    }
    guard (1...ConfigurationLimits.shardsMax).contains(items.count) else {
      throw refused("must be 1 to \(ConfigurationLimits.shardsMax) shards, are \(items.count)")
    }
    var shards: [ShardConfiguration] = []
    var words: [String: String] = [:]
    for (position, item) in items.enumerated() {
      // Where all errors are wanted, that of one shard leaves the others to be read.
      try section.source.reading(else: ()) { () throws(ConfigurationError) in
        let field = "\(section.path(to: name))[\(position)]"
        let id = try Self.id(of: item, field: field, in: section.source)
        let word = ConfigurationSource.variableWord(id.text)
        if let other = words.updateValue(id.text, forKey: word) {
          throw id.refused(
            TextRule.isSame(other, id.text)
              ? "\"\(id.text)\" occurs twice: a shard has one entry"
              : "goes by the same variables as \"\(other)\": rename one of them")
        }
        let element = try ConfigurationSection(
          item, source: section.source, field: field,
          variables: "\(section.variable(for: name))_\(word)", known: elementFields)
        let shard = ShardConfiguration(
          id: try Self.shard(id, isOnly: items.count == 1),
          redis: try redis(in: element))
        if let url = try element.scalar("url"), let twin = shards.first(where: { $0.isAt(shard) }) {
          try section.source.refuse(
            url.refused(
              "leads to the same keys as the shard \"\(twin.id.name)\": give it another Redis, "
                + "database or prefix"))
        }
        shards.append(shard)
      }
    }
    return shards
  }

  /// The name of a shard comes from the file alone, since variables go by it.
  private static func id(
    of item: Node, field: String, in source: ConfigurationSource
  ) throws(ConfigurationError) -> ConfigurationScalar {
    // The variables of the unnamed section do not exist: no id has a character that becomes "[".
    let unnamed = try ConfigurationSection(
      item, source: source, field: field, variables: "[", known: elementFields)
    guard let id = try unnamed.scalar("id") else {
      throw ConfigurationError(
        file: source.file, line: item.mark?.line, field: "\(field).id",
        message: "is missing: name the shard, as in apps[].shard")
    }
    return id
  }

  private static func shard(
    _ id: ConfigurationScalar, isOnly: Bool
  ) throws(ConfigurationError) -> ShardID {
    do throws(InvalidField) { return try ShardID(id.text, isOnly: isOnly) } catch {
      throw id.refused(error.message)
    }
  }

  /// A shard that says not where it is would be at the usual address, which is another's.
  private static func redis(
    in element: ConfigurationSection
  ) throws(ConfigurationError) -> RedisConfiguration {
    _ = try element.required("url", "where the shard's Redis is")
    return try RedisConfiguration(in: element)
  }

  /// - Returns: nil when it is refused, or the list is.
  private static func home(
    in section: ConfigurationSection, of shards: [ShardConfiguration]
  ) throws(ConfigurationError) -> ShardID? {
    let names = shards.map(\.id.name)
    guard let scalar = try section.scalar("home") else {
      guard shards.count > 1, !section.source.hasError(at: section.path(to: "home")) else {
        return nil
      }
      try section.source.refuse(
        section.missing(
          "home",
          "is missing: name the shard with what the fleet has once, one of "
            + names.joined(separator: ", ")))
      return nil
    }
    if let shard = shards.first(where: { TextRule.isSame($0.id.name, scalar.text) }) {
      return shard.id
    }
    // A shard that is refused may be the one that is meant.
    if !section.source.hasError(within: section.path(to: name)) {
      try section.source.refuse(scalar.refused(Self.unknown(scalar.text, among: names)))
    }
    return nil
  }

  /// The complaint about the name of a shard that there is not.
  static func unknown(_ name: String, among names: [String]) -> String {
    let hint = NearestName.suggestion(for: name, among: names)
    return "must name a shard of redis.shards, one of \(names.joined(separator: ", ")), is "
      + ConfigurationSection.quoted(name) + (hint.map { "; did you mean \"\($0)\"?" } ?? "")
  }
}

extension ShardConfiguration {
  /// Whether both have the same keys.
  fileprivate func isAt(_ other: ShardConfiguration) -> Bool {
    redis.prefix == other.redis.prefix && redis.url.leadsWhere(other.redis.url)
  }
}

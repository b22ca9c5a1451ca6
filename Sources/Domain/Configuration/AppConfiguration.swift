internal import Model
internal import Yams

/// One app, with its accounts at the push networks.
package struct AppConfiguration: Sendable, Equatable {
  package var id: String
  /// The name of the shard in which it lives; nil for the fleet's home.
  package var shard: String?
  package var networks: AppNetworks
  /// How many pushes of it the fleet together begins in a second; nil for any number.
  package var pushesPerSecond: Int?
  /// How many jobs that tell of events in one bucket the fleet starts in a minute; 0 for any number.
  package var eventsPerMinute: Int
  /// Where the app is at home: what local time is for installations without a time zone; nil for UTC.
  package var timeZone: String?
  /// How long its jobs are kept; nil for as long as those of all apps.
  package var jobs: JobsConfiguration?

  package init(
    id: String, networks: AppNetworks = AppNetworks(), pushesPerSecond: Int? = nil,
    eventsPerMinute: Int = ConfigurationLimits.eventsPerMinuteUsual, timeZone: String? = nil,
    jobs: JobsConfiguration? = nil, shard: String? = nil
  ) {
    self.id = id
    self.shard = shard
    self.networks = networks
    self.pushesPerSecond = pushesPerSecond
    self.eventsPerMinute = eventsPerMinute
    self.timeZone = timeZone
    self.jobs = jobs
  }
}

extension AppConfiguration {
  /// - Parameters:
  ///   - jobs: what holds for the jobs of apps that say nothing of their own.
  ///   - shards: the shards that an app may live in.
  static func list(
    in root: ConfigurationSection, jobs: JobsConfiguration, shards: ShardList
  ) throws(ConfigurationError) -> [AppConfiguration] {
    guard let node = root.node("apps"), !ConfigurationSection.isNull(node) else { return [] }
    func refused(_ message: String) -> ConfigurationError {
      ConfigurationError(
        file: root.source.file, line: node.mark?.line, field: "apps", message: message)
    }
    guard let items = node.sequence else {
      try root.source.refuse(refused("must be a list of apps, each beginning with \"- id:\""))
      return []
    }
    guard items.count <= ConfigurationLimits.appsMax else {
      try root.source.refuse(
        refused("must be at most \(ConfigurationLimits.appsMax) apps, are \(items.count)"))
      return []
    }
    var apps: [AppConfiguration] = []
    var ids: Set<String> = []
    var owners: [String: String] = [:]
    let hasVariables = root.source.hasVariables(beginning: "\(root.variables)_APPS_")
    for (position, item) in items.enumerated() {
      let (section, id) = try entry(item, at: position, root)
      if !ids.insert(id.text).inserted, !id.text.isEmpty {
        try root.source.refuse(
          id.refused("\"\(FieldPointer.printable(id.text))\" occurs twice: an app has one entry"))
      } else if let other = owners.updateValue(id.text, forKey: section.variables),
        hasVariables, root.source.hasVariables(beginning: section.variables + "_")
      {
        try root.source.refuse(
          id.refused(
            "goes by the same variables \(section.variables)_… as \"\(other)\": unset them or "
              + "rename one app"))
      }
      var app = try AppConfiguration(id: id, in: section, jobs: jobs)
      app.shard = try shard(in: section, of: shards)
      apps.append(app)
    }
    return apps
  }

  /// The section of one app. Its id comes from the file alone, since variables go by it.
  private static func entry(
    _ item: Node, at position: Int, _ root: ConfigurationSection
  ) throws(ConfigurationError) -> (ConfigurationSection, ConfigurationScalar) {
    let field = "apps[\(position)]"
    let known =
      ["id", "shard"] + Network.allCases.map(\.rawValue)
      + ["pushes_per_second", "events_per_minute", "time_zone", "jobs"]
    // The variables of the unnamed section do not exist: no id has a character that becomes "[".
    let unnamed = try ConfigurationSection(
      item, source: root.source, field: field, variables: "[", known: known)
    guard let id = try unnamed.scalar("id") else {
      if !root.source.hasError(at: field) {
        try root.source.refuse(
          ConfigurationError(
            file: root.source.file, line: item.mark?.line, field: "\(field).id",
            message: "is missing: name the app as its jobs do"))
      }
      return (
        unnamed,
        ConfigurationScalar(
          text: "", field: "\(field).id", file: root.source.file, line: item.mark?.line,
          variable: nil)
      )
    }
    do { try TextRule.checkApp(id.text) } catch {
      try root.source.refuse(id.refused(error.message))
      return (unnamed, id)
    }
    let name = ConfigurationSource.variableWord(id.text)
    let section = try ConfigurationSection(
      item, source: root.source, field: field, variables: "\(root.variables)_APPS_\(name)",
      known: known)
    return (section, id)
  }

  /// - Returns: nil for the home.
  private static func shard(
    in section: ConfigurationSection, of shards: ShardList
  ) throws(ConfigurationError) -> String? {
    guard let scalar = try section.scalar("shard") else { return nil }
    let names = shards.ids.map(\.name)
    if names.contains(where: { TextRule.isSame($0, scalar.text) }) { return scalar.text }
    // A shard that is refused may be the one that is meant.
    if !section.source.hasError(within: "\(RedisConfiguration.usualSection).shards") {
      try section.source.refuse(scalar.refused(ShardList.unknown(scalar.text, among: names)))
    }
    return nil
  }

  private init(
    id: ConfigurationScalar, in section: ConfigurationSection, jobs all: JobsConfiguration
  ) throws(ConfigurationError) {
    self.init(id: id.text)
    networks = try AppNetworks(in: section)
    pushesPerSecond = try section.optionalInteger(
      "pushes_per_second", in: 1...ConfigurationLimits.pushesPerSecondMax,
      zero: AppFieldRule.noPushesPerSecond)
    eventsPerMinute = try section.integer(
      "events_per_minute", in: 0...ConfigurationLimits.eventsPerMinuteMax,
      default: ConfigurationLimits.eventsPerMinuteUsual)
    jobs = try JobsConfiguration.ofApp(in: section, else: all)
    if let zone = try section.scalar("time_zone") {
      timeZone = try section.checked(zone) { (text) throws(InvalidField) in
        try AppFieldRule.checkTimeZone(text)
      }
    }
    guard networks.accounts.isEmpty else { return }
    // A network that is misspelt or wrong has told already.
    let places = Network.allCases.map { section.path(to: $0.rawValue) }
    if section.source.hasError(at: section.field)
      || places.contains(where: { section.source.hasError(within: $0) })
    {
      return
    }
    try section.source.refuse(
      id.refused(
        "\"\(FieldPointer.printable(id.text))\" has no \(Network.alternatives): it could send nothing"
      ))
  }
}

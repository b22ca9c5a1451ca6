internal import Logging
internal import Providers

/// The differences between the apps of Redis before a change and after it, by name.
struct RedisAppsDiff {
  private(set) var added: [String] = []
  private(set) var removed: [String] = []
  private(set) var changed: [String] = []
  /// Apps that can be sent for no more, or could not be from the first.
  private(set) var leftOut: [LeftOutApp] = []
  /// Apps that the configuration file names now, too.
  private(set) var displaced: [String] = []

  init(from before: ConfiguredApps, to next: ConfiguredApps) {
    let (old, new) = (before.redis, next.redis)
    for (id, rules) in new.usable {
      guard let former = old.usable[id] else {
        added.append(id)
        continue
      }
      if former != rules || !next.directory.sends(id, as: before.directory) {
        changed.append(id)
      }
    }
    let ids = new.ids
    removed = old.ids.filter { !ids.contains($0) }.sorted()
    leftOut = new.leftOut.values.filter { old.leftOut[$0.id] != $0 }.sorted { $0.id < $1.id }
    displaced = new.displaced.subtracting(old.displaced).sorted()
    added.sort()
    changed.sort()
  }

  var isEmpty: Bool {
    added.isEmpty && removed.isEmpty && changed.isEmpty && leftOut.isEmpty && displaced.isEmpty
  }

  /// Tells the log.
  func log(in log: Logger) {
    let lists = [
      ("added", added), ("removed", removed), ("changed", changed), ("left_out", leftOut.map(\.id)),
      ("in_file_too", displaced),
    ].filter { !$0.1.isEmpty }
    guard !lists.isEmpty else { return }
    let counts = lists.map { "\($0.1.count) \($0.0.replacing("_", with: " "))" }
    var metadata: Logger.Metadata = [:]
    for (name, names) in lists { metadata[name] = .string(ConfigurationDiff.listed(names)) }
    log.notice(
      "apps of Redis have changed: \(counts.joined(separator: ", "))", metadata: metadata)
    for app in leftOut.prefix(WorkerLimits.leftOutLoggedMax) {
      log.error("\(app.sentence)", metadata: ["app": "\(app.id)"])
    }
  }
}

package import HTTPClient
package import PushpoolConfiguration

/// The apps of Redis that a process has, beside those of its configuration file.
package struct RedisApps: Sendable, Equatable {
  /// The apps that can be sent for, with their rules.
  package fileprivate(set) var usable: [String: AppRules] = [:]
  /// The apps that cannot.
  package fileprivate(set) var leftOut: [String: LeftOutApp] = [:]
  /// How many places each of those needs that are left out since they found none.
  package fileprivate(set) var placesNeeded: [String: Int] = [:]
  /// The ids of the keys that have sealed the secrets of those that can be sent for.
  package fileprivate(set) var sealedBy: [String: [String]] = [:]
  /// Apps that the configuration file names, too: the file's app counts.
  package fileprivate(set) var displaced: Set<String> = []
  /// Apps that are to be read, since the process knows no more of them than their names.
  package fileprivate(set) var unread: Set<String> = []

  package init() {}

  /// How many there are.
  package var count: Int { usable.count + leftOut.count + displaced.count + unread.count }

  /// Whether an app of this name counts, or may when its record is read or mended.
  package func has(_ id: String) -> Bool {
    usable[id] != nil || leftOut[id] != nil || unread.contains(id)
  }

  /// The names of all.
  package var ids: Set<String> {
    Set(usable.keys).union(leftOut.keys).union(displaced).union(unread)
  }

  /// Whether there is an app of this name, whatever is done with it.
  package func contains(_ id: String) -> Bool {
    usable[id] != nil || leftOut[id] != nil || displaced.contains(id) || unread.contains(id)
  }

  /// Goes by another configuration file: what it names is displaced, and what it names no more is to be read.
  mutating func part(from named: Set<String>) {
    for id in named where usable[id] != nil || leftOut[id] != nil || unread.contains(id) {
      forget(id)
      displaced.insert(id)
    }
    for id in displaced where !named.contains(id) {
      displaced.remove(id)
      unread.insert(id)
    }
  }

  /// Has those read again that are left out, as with other keys.
  mutating func readLeftOutAgain() {
    unread.formUnion(leftOut.keys)
    leftOut.removeAll()
    placesNeeded.removeAll()
  }

  /// - Parameter needed: how many places the app needs, where it found none.
  mutating func leaveOut(_ id: String, _ errors: [ConfigurationError], placesNeeded needed: Int?) {
    forget(id)
    leftOut[id] = LeftOutApp(id: id, errors: errors)
    placesNeeded[id] = needed
  }

  /// Of those that found no place, the ones that fit in now, by name: they are to be read again.
  /// - Parameter room: how many places are free.
  func fitting(_ room: Int) -> Set<String> {
    guard room > 0, !placesNeeded.isEmpty else { return [] }
    var (left, found): (Int, Set<String>) = (room, [])
    for (id, needed) in placesNeeded.sorted(by: { $0.key < $1.key }) where needed <= left {
      left -= needed
      found.insert(id)
    }
    return found
  }

  fileprivate mutating func forget(_ id: String) {
    usable[id] = nil
    sealedBy[id] = nil
    leftOut[id] = nil
    placesNeeded[id] = nil
    displaced.remove(id)
    unread.remove(id)
  }
}

/// A change of the apps of Redis while it is made: some are let go of, and each is then taken as it is now. What it leaves alone keeps
/// its entries in the directory.
package struct RedisAppsChange {
  /// One app as it is now.
  package enum Finding: Sendable {
    /// - Parameter sealedBy: the ids of the keys that have sealed its secrets.
    case material(AppMaterial, AppRules, sealedBy: [String])
    /// Nothing can be sent for the app.
    /// - Parameter part: where in the app that is, such as `apns.production.key`; empty for all of it.
    case fault(part: String, message: String)
    case gone
  }

  private let before: ConfiguredApps
  /// The apps of the configuration file.
  private let named: Set<String>
  private var builder: ProviderBuilder
  private var redis: RedisApps
  private var taken: Set<String> = []

  /// - Parameters:
  ///   - configuration: as it is in force.
  ///   - ids: the apps that may be other than before; nil for all, of which none is left that is not taken.
  ///   - client: exchanges OAuth tokens; shared.
  package init(
    of before: ConfiguredApps, _ configuration: Configuration, ids: Set<String>?,
    client: HTTPClient, clock: WallClock = .system
  ) {
    self.before = before
    named = Set(configuration.apps.map(\.id))
    redis = before.redis
    for id in ids ?? redis.ids { redis.forget(id) }
    builder = ProviderBuilder(client: client, clock: clock, after: before.directory)
    let (usable, staying) = (before.redis.usable, redis.usable)
    builder.keep(
      before.directory.entries.filter { usable[$0.app] == nil || staying[$0.app] != nil })
    builder.keepQuotas()
  }

  /// Takes an app as it is now; of an app that comes up twice the first.
  package mutating func take(_ id: String, _ finding: Finding) {
    guard taken.insert(id).inserted else { return }
    guard !named.contains(id) else {
      if case .gone = finding { return }
      redis.displaced.insert(id)
      return
    }
    switch finding {
    case .gone: break
    case .fault(let part, let message): leaveOut(id, part, message)
    case .material(let material, let rules, let keys):
      do throws(MaterialProblems) {
        try builder.add(material)
        redis.usable[id] = rules
        redis.sealedBy[id] = keys
      } catch {
        let first = error.all.first
        leaveOut(
          id, first?.partOfForm ?? "", first?.message ?? "cannot be used",
          placesNeeded: error.placesNeeded)
      }
    }
  }

  private mutating func leaveOut(
    _ id: String, _ part: String, _ message: String, placesNeeded: Int? = nil
  ) {
    redis.leaveOut(
      id, [ConfigurationError(ofRedisApp: id, part: part, message: message)],
      placesNeeded: placesNeeded)
  }

  /// The apps of the process with the change.
  /// - Throws: when it has changed more often than a process can follow.
  package func apps() throws(ConfigurationError) -> ConfiguredApps {
    try ConfiguredApps(builder.directory(), leftOut: before.leftOut, redis: redis)
  }
}

extension ConfigurationError {
  /// The reason why an app of Redis is left out.
  init(ofRedisApp id: String, part: String, message: String) {
    self.init(
      file: "its record in Redis", line: nil, field: part, message: message)
  }
}

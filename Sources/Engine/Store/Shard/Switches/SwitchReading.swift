package import Model

/// The switches that are off at one moment.
package struct SwitchReading: Sendable, Equatable {
  package struct Entry: Sendable, Equatable {
    package let killSwitch: KillSwitch
    package let remark: SwitchRemark
  }

  /// How many there are, more perhaps than were read.
  package private(set) var count: Int
  package private(set) var entries: [Entry] = []
  /// Fields that say nothing to this version.
  package private(set) var unknown: [String] = []

  package init(count: Int = 0) { self.count = count }

  /// Whether there are more than are honoured.
  package var isOverfull: Bool { count > StoreLimits.switchesMax }

  /// The switches in the order of a list: an app before what is its.
  package var sorted: [Entry] {
    entries.sorted {
      ($0.killSwitch.app, $0.killSwitch.field) < ($1.killSwitch.app, $1.killSwitch.field)
    }
  }

  /// Adds what is off in another store and not here. A switch is in the stores of all shards.
  package mutating func add(_ other: SwitchReading) {
    let known = Set(entries.map(\.killSwitch))
    entries += other.entries.filter { !known.contains($0.killSwitch) }
    unknown += other.unknown.filter { !unknown.contains($0) }
    count = max(count, other.count, entries.count + unknown.count)
  }

  mutating func add(field: String, value: [UInt8]) {
    if let killSwitch = KillSwitch(field: field) {
      entries.append(Entry(killSwitch: killSwitch, remark: SwitchRemark(value)))
    } else {
      unknown.append(field)
    }
  }
}

/// The remark of the one who switched something off.
package struct SwitchRemark: Sendable, Equatable {
  /// Epoch milliseconds; nil when it was not said.
  package var sinceMs: Int64?
  package var reason: String

  /// From a value of the HASH: `{"since": ms, "reason": text}`, or any other text as the reason.
  package init(_ value: [UInt8]) {
    let object = try? JSONParser().parse(value).objectValue
    guard let object else {
      reason = String(decoding: value.prefix(StoreLimits.switchReasonBytesMax), as: UTF8.self)
      return
    }
    sinceMs = object["since"]?.int64Value.map { StoredNumber.instantMs($0) }
    reason = object["reason"]?.stringValue ?? ""
  }
}

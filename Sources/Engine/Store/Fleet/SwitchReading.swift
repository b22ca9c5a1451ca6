package import Model

/// What is switched off at one moment.
package struct SwitchReading: Sendable, Equatable {
  package struct Entry: Sendable, Equatable {
    package let killSwitch: KillSwitch
    package let remark: SwitchRemark
  }

  /// How many there are, more perhaps than were read.
  package let count: Int
  package private(set) var entries: [Entry] = []
  /// Fields that say nothing to this version.
  package private(set) var unknown: [String] = []

  package init(count: Int = 0) { self.count = count }

  /// Whether there are more than are honoured.
  package var isOverfull: Bool { count > StoreLimits.switchesMax }

  mutating func add(field: String, value: [UInt8]) {
    if let killSwitch = KillSwitch(field: field) {
      entries.append(Entry(killSwitch: killSwitch, remark: SwitchRemark(value)))
    } else {
      unknown.append(field)
    }
  }
}

internal import Model
package import Store

extension SwitchReading {
  /// Apps before what is theirs.
  package var sorted: [Entry] {
    entries.sorted {
      ($0.killSwitch.app, $0.killSwitch.field) < ($1.killSwitch.app, $1.killSwitch.field)
    }
  }
}

package import Logging
internal import Synchronization

/// The least level that this process logs, which may change while it runs.
package enum LogThreshold {
  private static let position = Atomic<Int>(Logger.Level.allCases.firstIndex(of: .info) ?? 0)

  package static var level: Logger.Level {
    get { Logger.Level.allCases[position.load(ordering: .relaxed)] }
    set {
      let place = Logger.Level.allCases.firstIndex(of: newValue)
      if let place { position.store(place, ordering: .relaxed) }
    }
  }
}

package import Model

/// How many installations ended how, by app and network, since the totals of the fleet began. No count falls while the key
/// lives; a deleted key or an emptied Redis begins them anew.
package struct OutcomeTotals: Sendable, Equatable {
  /// One way to end.
  package struct Name: Sendable, Hashable {
    package let app: String
    /// Nil for users whose installations were never read.
    package let network: Network?
    /// A word of `OutcomeCounts`.
    package let outcome: String

    package init(app: String, network: Network?, outcome: String) {
      self.app = app
      self.network = network
      self.outcome = outcome
    }

    /// Nil for what is no count's name.
    init?(_ field: String) {
      let parts = field.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 3, (try? TextRule.checkApp(parts[0])) != nil,
        (1...StoreLimits.outcomeBytesMax).contains(parts[2].utf8.count),
        TextRule.isWord(parts[2], others: "_")
      else { return nil }
      if parts[1] == "none" {
        network = nil
      } else {
        guard let named = Network(rawValue: parts[1]) else { return nil }
        network = named
      }
      app = parts[0]
      outcome = parts[2]
    }
  }

  package private(set) var counts: [Name: Int] = [:]
  /// Since when they count, epoch milliseconds; nil before anything was counted.
  package private(set) var sinceMs: Int64?
  /// Whether all counts were read.
  package var isWhole = true

  package init() {}

  /// Takes a field of `Keys.totals`. One that comes again, as in a scan, counts once.
  mutating func add(_ field: String, _ value: String) {
    if field == "since" {
      sinceMs = Int64(value).map { StoredNumber.instantMs($0) }
    } else if let name = Name(field), let count = Int(value), count >= 0 {
      counts[name] = StoredNumber.count(count)
    }
  }

  /// Adds what another store has counted.
  package mutating func add(_ other: OutcomeTotals) {
    counts.merge(other.counts) { $0 + $1 }
    sinceMs = [sinceMs, other.sinceMs].compactMap(\.self).min()
    isWhole = isWhole && other.isWhole
  }
}

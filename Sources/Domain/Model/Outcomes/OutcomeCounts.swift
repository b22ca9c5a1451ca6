/// How many installations of a job, or of a part of it, ended how.
package struct OutcomeCounts: Sendable, Equatable {
  package var accepted = 0
  package var rejected = 0
  package var uninstalled = 0
  package var expired = 0
  package var skipped = 0
  /// Given up after retries.
  package var failed = 0
  /// Attempts after the first; not a way to end.
  package var retries = 0
  /// Users without an installation; normal, and not a way to end either.
  package var noInstallations = 0

  package init() {}

  /// Installations that ended in exactly one outcome.
  package var settled: Int { accepted + rejected + uninstalled + expired + skipped + failed }

  package var isZero: Bool { self == OutcomeCounts() }

  /// The counters under their names in a job's record.
  package var fields: [(name: String, count: Int)] {
    [
      ("accepted", accepted), ("rejected", rejected), ("uninstalled", uninstalled),
      ("expired", expired), ("skipped", skipped), ("failed", failed), ("retries", retries),
      ("no_installations", noInstallations),
    ]
  }

  /// The counter of a name in a job's record; nil when there is no such counter.
  package static func path(_ name: String) -> WritableKeyPath<OutcomeCounts, Int>? {
    paths.first { $0.name == name }?.path
  }

  private static var paths: [(name: String, path: WritableKeyPath<OutcomeCounts, Int>)] {
    [
      ("accepted", \.accepted), ("rejected", \.rejected), ("uninstalled", \.uninstalled),
      ("expired", \.expired), ("skipped", \.skipped), ("failed", \.failed),
      ("retries", \.retries), ("no_installations", \.noInstallations),
    ]
  }

  package static func += (sum: inout OutcomeCounts, more: OutcomeCounts) {
    for (_, path) in paths { sum[keyPath: path] += more[keyPath: path] }
  }
}

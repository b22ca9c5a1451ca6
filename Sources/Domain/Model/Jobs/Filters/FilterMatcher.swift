/// Holds a filter against installations.
package struct FilterMatcher: Sendable {
  private enum Source {
    /// The network or environment of the binding.
    case network, environment
    /// A position in `fields`.
    case record(Int)
  }

  private struct Check {
    let source: Source
    let test: FilterTest
    /// The result that `test` must have.
    let wanted: Bool
  }

  /// The fields of an installation's record that are looked at, each once.
  let fields: [FilterField]
  /// Their names in the record.
  package let recordFields: [String]
  private let checks: [Check]

  package init(_ filter: InstallationFilter) {
    var fields: [FilterField] = []
    func source(_ field: FilterField) -> Source {
      switch field {
      case .network: return .network
      case .environment: return .environment
      default: break
      }
      if let known = fields.firstIndex(of: field) { return .record(known) }
      fields.append(field)
      return .record(fields.count - 1)
    }
    checks =
      filter.required.map { Check(source: source($0.field), test: $0.test, wanted: true) }
      + filter.excluded.map { Check(source: source($0.field), test: $0.test, wanted: false) }
    self.fields = fields
    recordFields = fields.map(\.recordName)
  }

  /// Whether the job is for an installation.
  /// - Parameter value: its record's field at a position of `recordFields`; nil when it lacks that field.
  package func admits(
    _ network: Network, _ environment: PushEnvironment,
    _ value: (Int) -> UnsafeRawBufferPointer?
  ) -> Bool {
    checks.allSatisfy { check in
      switch (check.source, check.test) {
      case (.network, .networks(let networks)): networks.contains(network) == check.wanted
      case (.environment, .environments(let environments)):
        environments.contains(environment) == check.wanted
      case (.record(let position), let test):
        (value(position).map(test.holds) ?? false) == check.wanted
      case (.network, _), (.environment, _): preconditionFailure("no such condition is read")
      }
    }
  }
}

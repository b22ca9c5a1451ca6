/// The two worlds of an app's installations (APNs: the production or the sandbox host and credentials).
package enum PushEnvironment: String, Sendable, Hashable, CaseIterable {
  case production, development

  package static let all = Set(allCases)

  package var other: PushEnvironment { self == .production ? .development : .production }

  /// Not by its name: that takes ten times as long, several times a job.
  package func hash(into hasher: inout Hasher) { hasher.combine(self == .production) }
}

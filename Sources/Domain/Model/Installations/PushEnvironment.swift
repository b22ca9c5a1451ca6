/// The two worlds of an app's installations (APNs: the production or the sandbox host and credentials).
package enum PushEnvironment: String, Sendable, Hashable, CaseIterable {
  case production, development

  package static let all = Set(allCases)

  package var other: PushEnvironment { self == .production ? .development : .production }
}

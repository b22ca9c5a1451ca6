/// The last that became of a device token or of a user's device, as it is kept for some days.
package struct Departure: Sendable, Equatable {
  package enum Cause: String, Sendable, CaseIterable {
    /// The network called the token dead; `by` is its reason.
    case network
    /// Somebody uninstalled it; `by` is the user whom the uninstall named, or empty.
    case explicit
    /// Another user installed it, who is `by`.
    case overwritten
    /// Another token of the same user took its place, which is `by`.
    case evicted
    /// The network took the token in the environment `by`, in which it is installed since. The binding stayed.
    case environment
  }

  package let cause: Cause
  /// Epoch milliseconds.
  package let atMs: Int64
  /// Whose it was until then; empty when the binding stayed.
  package let user: String
  package let token: DeviceToken
  package let by: String
  /// The job whose push it was about; empty for others than the network's word.
  package let job: String

  package init(
    cause: Cause, atMs: Int64, user: String, token: DeviceToken, by: String, job: String = ""
  ) {
    self.cause = cause
    self.atMs = atMs
    self.user = user
    self.token = token
    self.by = by
    self.job = job
  }
}

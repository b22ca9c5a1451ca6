/// Who receives a job.
package enum Audience: Sendable, Equatable {
  /// Every installation of these users; each user once, in the order given.
  case users([String])
  /// These installations; each once, in the order given.
  case installations([DeviceToken])

  /// Users or installations named.
  package var count: Int {
    switch self {
    case .users(let users): users.count
    case .installations(let tokens): tokens.count
    }
  }
}

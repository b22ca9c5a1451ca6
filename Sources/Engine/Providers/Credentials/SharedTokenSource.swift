/// A source whose tokens the replicas of a fleet can have in common.
package protocol SharedTokenSource: CredentialSource {
  /// Agrees on tokens with the fleet from now on; with nil, this process has its own.
  func share(through share: (any TokenShare)?)
}

/// The store's answer to a settlement.
package struct SettleAnswer: Sendable, Equatable {
  /// `.stale`: nothing was counted, the chunk belongs to somebody else.
  package let standing: WorkStanding
  /// Invalid tokens that were uninstalled.
  package let uninstalled: Int
  /// Invalid tokens whose binding had changed and was kept.
  package let kept: Int
  /// Invalid tokens that were kept because a mass death is assumed.
  package let spared: Int
  /// Users that were not read because the job's key of users is gone; they count as failed.
  package let lost: Int
  /// The fate of each invalid token, in their order; empty for a settlement that had been counted before.
  package let fates: [TokenFate]
  /// Where a mass death is assumed: `<network>|<environment>`.
  package let massDeaths: [String]
  /// The places of `Settlement.unrouted` that no worker has credentials for: `<network>|<environment>`.
  package let skipped: [String]

  package init(
    standing: WorkStanding, uninstalled: Int, kept: Int, spared: Int = 0, lost: Int = 0,
    fates: [TokenFate] = [], massDeaths: [String] = [], skipped: [String] = []
  ) {
    self.standing = standing
    self.uninstalled = uninstalled
    self.kept = kept
    self.spared = spared
    self.lost = lost
    self.fates = fates
    self.massDeaths = massDeaths
    self.skipped = skipped
  }
}

/// The fate in the store of a token that its network called invalid.
package enum TokenFate: UInt8, Sendable {
  /// The token was uninstalled.
  case removed = 0x72  // r
  /// The binding had changed.
  case kept = 0x6b  // k
  /// The token was kept because a mass death is assumed.
  case spared = 0x73  // s
}

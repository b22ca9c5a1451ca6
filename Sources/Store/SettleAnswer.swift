/// What became of a settlement.
package struct SettleAnswer: Sendable, Equatable {
  /// `.stale`: nothing was counted, the chunk belongs to somebody else.
  package let standing: WorkStanding
  /// Invalid tokens that were uninstalled.
  package let uninstalled: Int
  /// Invalid tokens whose binding had changed and was kept.
  package let kept: Int
  /// Invalid tokens that were kept because a mass death is suspected.
  package let spared: Int
  /// Users that were not read because the job's key of users is gone; they count as failed.
  package let lost: Int
  /// Where one is suspected: `<network>|<environment>`.
  package let suspicions: [String]
}

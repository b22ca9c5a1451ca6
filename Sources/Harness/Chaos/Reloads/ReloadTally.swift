/// The counts and times of a configuration that is rewritten again and again.
struct ReloadTally: Sendable {
  var rewrites = 0
  /// The rewrites that all workers took, and the ones that all refused.
  var taken = 0
  var refused = 0
  /// Rewrites that the next one followed at once.
  var hurried = 0
  /// Rewrites that SIGHUP told of, too.
  var signalled = 0
  /// The longest that it took until all workers told it.
  var takenSeconds = 0.0
  var refusedSeconds = 0.0
  /// The longest that it took from a command until all workers went by what it had done to an app in Redis.
  var tenantSeconds = 0.0
  /// How many times an app needed other connections, at most.
  var renewals = 0
  /// The first rewrite that was not told in time: a sentence. Nothing is rewritten after it but for the end.
  var failure: String?

  var sentence: String {
    "\(rewrites) rewrites: \(taken) taken by all workers, at the latest \(tenths(takenSeconds)) s after the rename; "
      + "\(refused) refused by all, at the latest after \(tenths(refusedSeconds)) s; "
      + "apps in Redis taken \(tenths(tenantSeconds)) s after the command at the latest; \(hurried) followed at once by "
      + "the next; \(signalled) with SIGHUP"
  }
}

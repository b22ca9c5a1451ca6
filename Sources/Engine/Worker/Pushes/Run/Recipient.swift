/// One recipient of a chunk: a user with all installations, or one installation, also one that is left of a user.
struct Recipient {
  /// Its pushes are neighbours in the run's table.
  var firstPush: Int32 = 0
  var pushCount: Int32 = 0
  /// Pushes without a decision.
  var openCount: Int32 = 0
  var isDone = false
}

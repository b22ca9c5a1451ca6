/// How far a lane has come with its end; loop-bound. The lane alone moves it on. Its agents ask.
final class LaneLife {
  private enum Stage: Comparable {
    case working, draining, aborting, forsaking, ended
  }

  private var stage = Stage.working

  /// Whether no new work is taken, and what is in hand is brought to an end.
  var isDraining: Bool { stage >= .draining }
  /// Whether answers are not waited for any more either.
  var isAborting: Bool { stage >= .aborting }
  /// Whether Redis is not waited for any more either: what it has not heard by now is sent again by others.
  var isForsaking: Bool { stage >= .forsaking }
  /// Whether everything is settled or handed back.
  var isEnded: Bool { stage == .ended }

  func drain() { stage = max(stage, .draining) }
  func abort() { stage = max(stage, .aborting) }
  func forsake() { stage = max(stage, .forsaking) }
  func end() { stage = .ended }
}

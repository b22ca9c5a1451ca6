internal import Model
internal import Synchronization

/// Whether a shard has its name, as the lanes know it that a process has for it. Before one of them has seen to that, a place
/// without a name is one that is to get it. Afterwards such a place is another one, or has lost its data: no work is taken there
/// before it is claimed anew.
final class ShardName: Sendable {
  private struct State {
    var isKnown = false
    var isMissing = false
  }

  private let state = Mutex(State())
  private let shard: ShardID

  init(of shard: ShardID) { self.shard = shard }

  /// The place has the name.
  func noteThere() { state.withLock { $0 = State(isKnown: true) } }

  /// A place has none, or does not show it. - Returns: why it is not used; nil when it is to get the name.
  func noteMissing() -> String? {
    state.withLock { state in
      state.isMissing = state.isKnown
      guard state.isKnown else { return nil }
      return
        "the Redis of the shard \(shard.name) and its prefix show no name any more, as where all data were lost: no work is "
        + "taken there before they are found to be no other shard's"
    }
  }

  /// Whether a place without it was found since it was there last.
  var isMissing: Bool { state.withLock { $0.isMissing } }
}

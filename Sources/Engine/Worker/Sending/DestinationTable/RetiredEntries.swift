internal import Providers

/// Entries that the directory of a lane has no more, each for as long as a run goes on that was there when it went: pushes
/// of such a run may have found their targets before.
struct RetiredEntries {
  private struct Run {
    weak var run: PushRun?
  }

  /// The runs that were there when some entries went, all at once.
  private final class Witnesses {
    private var runs: [Run]

    init(_ runs: [PushRun]) { self.runs = runs.map { Run(run: $0) } }

    var isAnyLeft: Bool {
      runs.removeAll { $0.run == nil }
      return !runs.isEmpty
    }
  }

  private var entries: [Int: (entry: ProviderDirectory.Entry, witnesses: Witnesses)] = [:]

  var isEmpty: Bool { entries.isEmpty }

  /// The entry of a number; nil when none of these has it.
  subscript(number: Int) -> ProviderDirectory.Entry? { entries[number]?.entry }

  /// The numbers by which no run goes any more.
  var unused: [Int] { entries.filter { !$0.value.witnesses.isAnyLeft }.map(\.key) }

  /// Keeps entries that have just gone.
  /// - Parameter runs: all that the lane has in hand.
  mutating func add(_ gone: [ProviderDirectory.Entry], during runs: [PushRun]) {
    let witnesses = Witnesses(runs)
    for entry in gone { entries[entry.number] = (entry, witnesses) }
  }

  mutating func remove(_ number: Int) { entries[number] = nil }
}

internal import Model

/// Says of receivers whether anything can be made for them with their users' values, before their badges are raised;
/// loop-bound.
struct FillCheck {
  private let run: PushRun
  private let composer: PushComposer
  private let table: VariableTable
  private let rows: [VariableTable.Row]
  /// The memory for what is filled in, which goes with the check: Redis may yet refuse what else the receivers take.
  private let arena: ByteArena

  /// - Parameter values: of each user.
  init(_ run: PushRun, _ values: [UserValues], _ composer: PushComposer) {
    self.run = run
    self.composer = composer
    let arena = ByteArena()
    var table = VariableTable()
    rows = values.map { table.add($0, of: run.material, in: arena) }
    self.table = table
    self.arena = arena
  }

  /// - Parameters:
  ///   - user: a position in the values.
  ///   - variant: of the job's text.
  func canSend(to user: Int, _ target: PushTarget, _ variant: UInt8) -> Bool {
    let needsValues = !run.material.variants.placeholders.isEmpty
    return withExtendedLifetime(arena) {
      composer.canSend(run, target, variant, needsValues ? table[rows[user]] : [])
    }
  }
}

/// The place of a run in its lane's table, by which its pushes are found again.
struct RunPlace {
  let slot: Int
  /// Which of the runs that had the place it is; the table says.
  var generation: UInt8 = 0
}

/// The content of a request's tag, to find its push again when it is answered.
struct PushTag {
  /// The run's place.
  let slot: Int
  /// Which of the runs that had the place it is, so that an answer that comes too late is nobody else's.
  let generation: UInt8
  /// The push's number in the run.
  let push: Int

  init(_ run: PushRun, push: Int) {
    slot = run.place.slot
    generation = run.place.generation
    self.push = push
  }

  init(_ raw: UInt64) {
    slot = Int(truncatingIfNeeded: raw >> 40)
    generation = UInt8(truncatingIfNeeded: raw >> 32)
    push = Int(truncatingIfNeeded: raw & 0xffff_ffff)
  }

  var raw: UInt64 { UInt64(slot) << 40 | UInt64(generation) << 32 | UInt64(push) }
}

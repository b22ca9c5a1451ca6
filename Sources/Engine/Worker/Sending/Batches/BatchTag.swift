/// The content of the tag of a request of several pushes, to find its batch again when it is answered.
struct BatchTag: Equatable {
  /// The bit that tells it from a `PushTag`.
  private static let mark: UInt64 = 1 << 63

  /// The batch's place.
  let slot: Int
  /// Which of the batches that had the place it is, so that an answer that comes too late is nobody else's.
  let generation: UInt16

  init(slot: Int, generation: UInt16) {
    self.slot = slot
    self.generation = generation
  }

  /// - Parameter raw: one that `isOne`.
  init(_ raw: UInt64) {
    slot = Int(truncatingIfNeeded: raw & 0xffff_ffff)
    generation = UInt16(truncatingIfNeeded: raw >> 32)
  }

  /// Whether a request's tag names a batch.
  static func isOne(_ raw: UInt64) -> Bool { raw & mark != 0 }

  var raw: UInt64 { Self.mark | UInt64(generation) << 32 | UInt64(slot) }
}

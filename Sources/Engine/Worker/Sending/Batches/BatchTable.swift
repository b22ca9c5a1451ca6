/// The batches of a lane that are in flight, each in a place of its own; loop-bound. There are as many as its connections
/// carry requests.
struct BatchTable {
  private var batches: [Batch?] = []
  private var generations: [UInt16] = []
  private var free: [Int] = []
  /// Pushes of all of them.
  private(set) var pushes = 0

  var count: Int { batches.count - free.count }

  /// Puts a batch into a place. - Returns: its request's tag.
  mutating func add(_ batch: Batch) -> BatchTag {
    pushes += batch.tags.count
    guard let slot = free.popLast() else {
      batches.append(batch)
      generations.append(0)
      return BatchTag(slot: batches.count - 1, generation: 0)
    }
    batches[slot] = batch
    return BatchTag(slot: slot, generation: generations[slot])
  }

  /// Takes a batch out. - Returns: nil when it has ended before.
  mutating func remove(_ tag: BatchTag) -> Batch? {
    guard batches.indices.contains(tag.slot), generations[tag.slot] == tag.generation,
      let batch = batches[tag.slot]
    else { return nil }
    batches[tag.slot] = nil
    generations[tag.slot] &+= 1
    free.append(tag.slot)
    pushes -= batch.tags.count
    return batch
  }
}

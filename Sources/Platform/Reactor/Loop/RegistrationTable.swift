/// Whom the loop calls for which descriptor.
///
/// Places are used again, so what epoll hands back carries a generation beside the place: an event
/// that was fetched for a closed descriptor must not reach the place's next tenant.
struct RegistrationTable {
  /// Where a handler stands, and what epoll hands back for it.
  struct Place {
    fileprivate let index: Int
    let data: UInt64
  }

  private struct Entry {
    var handler: (any ReadinessHandler)?
    var generation: UInt32 = 0
  }

  private var entries: [Entry] = []
  private var free: [Int] = []

  mutating func add(_ handler: any ReadinessHandler) -> Place {
    let index: Int
    if let reused = free.popLast() {
      index = reused
    } else {
      index = entries.count
      entries.append(Entry())
    }
    entries[index].handler = handler
    return Place(index: index, data: UInt64(entries[index].generation) << 32 | UInt64(index))
  }

  mutating func replace(_ place: Place, _ handler: any ReadinessHandler) {
    entries[place.index].handler = handler
  }

  mutating func remove(_ place: Place) {
    entries[place.index].handler = nil
    entries[place.index].generation &+= 1
    free.append(place.index)
  }

  /// Whom an event is for; nil when the registration has been removed since.
  func handler(for data: UInt64) -> (any ReadinessHandler)? {
    let entry = entries[Int(truncatingIfNeeded: data & 0xffff_ffff)]
    return entry.generation == UInt32(truncatingIfNeeded: data >> 32) ? entry.handler : nil
  }

  /// Takes every handler out; `remove` goes on to work.
  mutating func takeHandlers() -> [any ReadinessHandler] {
    let handlers = entries.compactMap(\.handler)
    for index in entries.indices { entries[index].handler = nil }
    return handlers
  }
}

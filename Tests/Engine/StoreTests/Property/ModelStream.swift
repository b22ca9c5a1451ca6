/// What a stream with one consumer group does, without time: a lease is over when somebody says so.
struct ModelStream<Item> {
  struct Lease {
    let number: Int
    var item: Item
    var owner: String
    var deliveries: Int
    /// Its owner has been silent for a lease.
    var isOver = false
    /// Known since it was first delivered, or added.
    var entry = ""
    /// It was added for its owner: to others it is given in vain.
    var isNamed = false
  }

  /// Added and delivered to nobody, oldest first.
  private(set) var waiting: [(number: Int, item: Item, entry: String)] = []
  /// Pending entries, in the order in which they were added.
  private(set) var leases: [Lease] = []
  private var added = 0

  var count: Int { waiting.count + leases.count - waiting.count { isLeased($0.number) } }

  private func isLeased(_ number: Int) -> Bool { leases.contains { $0.number == number } }

  /// - Parameter entry: empty when it is not known yet.
  mutating func add(_ item: Item, entry: String = "") {
    added += 1
    waiting.append((added, item, entry))
  }

  /// Adds an entry that somebody has already. Readers of new entries come upon it still.
  mutating func add(_ item: Item, for owner: String, entry: String) {
    add(item, entry: entry)
    leases.append(
      Lease(
        number: added, item: item, owner: owner, deliveries: 1, entry: entry, isNamed: true))
  }

  /// Puts the last entries into another order.
  mutating func reorder(last items: [Item]) {
    for (offset, item) in items.enumerated() {
      waiting[waiting.count - items.count + offset].item = item
    }
  }

  mutating func readNew(_ consumer: String, max: Int) -> [Lease] {
    var found: [Lease] = []
    for (number, item, entry) in waiting.prefix(max) {
      if let index = leases.firstIndex(where: { $0.number == number }) {
        leases[index].isOver = false
        leases[index].deliveries = 1
        found.append(leases[index])
      } else {
        let lease = Lease(
          number: number, item: item, owner: consumer, deliveries: 1, entry: entry)
        leases.append(lease)
        found.append(lease)
      }
    }
    waiting.removeFirst(found.count)
    leases.sort { $0.number < $1.number }
    return found
  }

  /// - Parameters:
  ///   - any: whatever is leased, as with a lease of 0 ms.
  ///   - suspectsAlone: what has lost two consumers comes by itself.
  mutating func readAbandoned(
    _ consumer: String, max: Int, any: Bool, suspectsAlone: Bool = false
  ) -> [Lease] {
    var found: [Lease] = []
    for index in leases.indices where any || leases[index].isOver {
      guard found.count < max else { break }
      let isSuspect = leases[index].deliveries > 1
      if suspectsAlone, !found.isEmpty, isSuspect || found[0].deliveries > 2 { break }
      leases[index].owner = consumer
      leases[index].deliveries += 1
      leases[index].isOver = false
      found.append(leases[index])
    }
    return found
  }

  /// Whether the entry is there, delivered or not, and known.
  func has(_ entry: String) -> Bool {
    leases.contains { $0.entry == entry } || waiting.contains { $0.entry == entry }
  }

  func lease(_ entry: String, of consumer: String) -> Lease? {
    leases.first { $0.entry == entry && $0.owner == consumer }
  }

  mutating func learn(_ entry: String, _ number: Int) {
    guard let index = leases.firstIndex(where: { $0.number == number }) else { return }
    leases[index].entry = entry
  }

  mutating func renew(_ number: Int) {
    guard let index = leases.firstIndex(where: { $0.number == number }) else { return }
    leases[index].isOver = false
  }

  mutating func end(leasesOf consumer: String) {
    for index in leases.indices where leases[index].owner == consumer {
      leases[index].isOver = true
    }
  }

  /// Drops an entry that somebody has, whoever it is.
  mutating func drop(_ entry: String) {
    guard let number = leases.first(where: { $0.entry == entry })?.number else { return }
    drop(number)
  }

  mutating func drop(_ number: Int) {
    leases.removeAll { $0.number == number }
    waiting.removeAll { $0.number == number }
  }
}

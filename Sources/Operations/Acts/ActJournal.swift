package import Model
package import Redis
package import Store

/// The list of what operators did: noted in the first store of the fleet, and read from all.
package struct ActJournal {
  /// A page of acts, the newest first.
  package struct Page: Sendable, Equatable {
    package let entries: [ActEntry]
    /// The entry to start the next page behind; nil when there are no older acts. There may be no match behind it.
    package let next: String?
  }

  private let stores: [Store]

  package init(stores: [Store]) { self.stores = stores }

  /// Notes an act.
  /// - Parameters:
  ///   - who: a user of a machine, or the id of a key.
  ///   - whoName: the key's name; empty for none.
  ///   - from: an address, or `command line`.
  ///   - nowMs: epoch milliseconds.
  package func note(
    _ act: Act, by who: String, named whoName: String = "", from: String, nowMs: Int64
  ) async throws(RedisError) {
    try await stores.first?.acts.add(act, by: who, named: whoName, from: from, nowMs: nowMs)
  }

  /// Reads the acts that match. It looks at `OperationsLimits.actsLookedMax` at most.
  /// - Parameters:
  ///   - app: only those about the app; nil for all.
  ///   - verb: only those of the verb, such as `job.cancel`, or of the noun in front of its dot; nil for all.
  ///   - before: `next` of the page before; nil for the newest.
  ///   - max: the page has more only when acts of several stores have the same entry.
  package func page(
    app: String? = nil, verb: String? = nil, before: String? = nil, max: Int
  ) async throws(RedisError) -> Page {
    var found: [ActEntry] = []
    var (cursor, looked) = (before, 0)
    while looked < OperationsLimits.actsLookedMax {
      let entries = try await merged(before: cursor)
      guard !entries.isEmpty else { return Page(entries: found, next: nil) }
      for entry in entries {
        // The page is full, and there is more: not between two of the same entry in two stores.
        guard found.count < max || entry.entry == cursor else {
          return Page(entries: found, next: cursor)
        }
        cursor = entry.entry
        looked += 1
        if entry.matches(app: app, verb: verb) { found.append(entry) }
      }
    }
    return Page(entries: found, next: cursor)
  }

  /// The next acts of all stores, whatever they are.
  private func merged(before: String?) async throws(RedisError) -> [ActEntry] {
    let max = StoreLimits.actPageMax
    var entries: [ActEntry] = []
    for store in stores { entries += try await store.acts.page(before: before, max: max) }
    guard stores.count > 1 else { return entries }
    let sorted = entries.compactMap { entry in
      EntryID(entry.entry).map { (id: $0, entry: entry) }
    }.sorted { $0.id > $1.id }
    guard sorted.count > max else { return sorted.map(\.entry) }
    // No page may end between two of the same entry.
    let last = sorted[max - 1].id
    return sorted.prefix { $0.id >= last }.map(\.entry)
  }
}

extension ActEntry {
  fileprivate func matches(app: String?, verb: String?) -> Bool {
    if let app, act.app != app { return false }
    guard let verb else { return true }
    return act.verb == verb || act.verb.hasPrefix("\(verb).")
  }

  /// The act's fields, with the entry by which older ones are asked for.
  package func json() -> JSONObject {
    [
      "entry": .string(entry), "at": .integer(atMs), "verb": .string(act.verb),
      "app": .string(act.app), "subject": .string(act.subject), "detail": .string(act.detail),
      "who": .string(who), "who_name": .string(whoName), "from": .string(from),
    ]
  }
}

package import Model
package import Redis
package import Store

/// The list of what operators did, which the fleet has once: one list, in one order.
package struct ActJournal {
  /// A page of acts, the newest first.
  package struct Page: Sendable, Equatable {
    package let entries: [ActEntry]
    /// The entry to start the next page behind; nil when there are no older acts. There may be no match behind it.
    package let next: String?
  }

  private let fleet: FleetStore

  package init(fleet: FleetStore) { self.fleet = fleet }

  /// Notes an act.
  /// - Parameters:
  ///   - who: a user of a machine, or the id of a key.
  ///   - whoName: the key's name; empty for none.
  ///   - from: an address, or `command line`.
  ///   - nowMs: epoch milliseconds.
  package func note(
    _ act: Act, by who: String, named whoName: String = "", from: String, nowMs: Int64
  ) async throws(RedisError) {
    try await fleet.acts.add(act, by: who, named: whoName, from: from, nowMs: nowMs)
  }

  /// Reads the acts that match. It looks at `OperationsLimits.actsLookedMax` at most.
  /// - Parameters:
  ///   - app: only those about the app; nil for all.
  ///   - verb: only those of the verb, such as `job.cancel`, or of the noun in front of its dot; nil for all.
  ///   - before: `next` of the page before; nil for the newest.
  ///   - max: the page has fewer at the end, or where more acts would have to be looked at.
  package func page(
    app: String? = nil, verb: String? = nil, before: String? = nil, max: Int
  ) async throws(RedisError) -> Page {
    var found: [ActEntry] = []
    var (cursor, looked) = (before, 0)
    while looked < OperationsLimits.actsLookedMax {
      let entries = try await fleet.acts.page(before: cursor, max: StoreLimits.actPageMax)
      guard !entries.isEmpty else { return Page(entries: found, next: nil) }
      for entry in entries {
        // The page is full, and there is more.
        guard found.count < max else { return Page(entries: found, next: cursor) }
        cursor = entry.entry
        looked += 1
        if entry.matches(app: app, verb: verb) { found.append(entry) }
      }
    }
    return Page(entries: found, next: cursor)
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

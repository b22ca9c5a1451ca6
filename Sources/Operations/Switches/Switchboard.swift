package import Model
package import Redis
package import Store

/// The switches that operators have turned off. Each shard's workers look at their own store, so a switch is in all
/// of them.
package struct Switchboard {
  private let stores: [ShardStore]

  package init(stores: [ShardStore]) { self.stores = stores }

  /// Reads what is off now in any store; of more than `StoreLimits.switchesMax` in one only so many, and those of users
  /// last.
  package func read() async throws(RedisError) -> SwitchReading {
    var reading = SwitchReading()
    for store in stores { reading.add(try await store.switches.list()) }
    return reading
  }

  /// Switches off in all stores.
  /// - Returns: `.full` when one of them is, `.already` when it was off in all, with the first one's remark; a switch
  ///   that is refused by one store is off in the others.
  package func switchOff(
    _ killSwitch: KillSwitch, reason: String
  ) async throws(RedisError) -> SwitchStore.Answer {
    var answers: [SwitchStore.Answer] = []
    for store in stores {
      answers.append(try await store.switches.switchOff(killSwitch, reason: reason))
    }
    if answers.contains(.full) { return .full }
    let news = answers.first { if case .off = $0 { true } else { false } }
    return news ?? answers.first ?? .full
  }

  /// Switches on in all stores. - Returns: whether it was off in any.
  package func switchOn(_ killSwitch: KillSwitch) async throws(RedisError) -> Bool {
    var wasOff = false
    for store in stores {
      if try await store.switches.switchOn(killSwitch) { wasOff = true }
    }
    return wasOff
  }
}

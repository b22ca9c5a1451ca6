package import Model
package import Redis

/// The switches that operators have turned off for the whole fleet.
package struct SwitchStore {
  /// The result of switching something off.
  package enum Answer: Sendable, Equatable {
    case off(SwitchRemark)
    /// The switch was off before, and stays as it was.
    case already(SwitchRemark)
    /// `StoreLimits.switchesMax` are off, and more are not honoured.
    case full
  }

  let functions: StoreFunctions

  /// Returns the ones among `switches` that are off, in their order; needs no functions.
  package func thoseOff(among switches: [KillSwitch]) async throws(RedisError) -> [KillSwitch] {
    var command = RedisCommand("HMGET", functions.keys.switches)
    for killSwitch in switches { command.append(killSwitch.field) }
    let reply: RESPValue
    do throws(RedisError) {
      reply = try await functions.connection.call(command)
    } catch {
      // Nothing can be switched off there.
      guard case .server("WRONGTYPE", _) = error else { throw error }
      return []
    }
    return zip(switches, reply.array ?? []).filter { $1.string != nil }.map { $0.0 }
  }

  /// Reads what is off now; of more than `StoreLimits.switchesMax` only so many, and those of users last.
  package func read() async throws(RedisError) -> SwitchReading {
    var command = functions.call("switches")
    command.append(StoreLimits.switchesMax)
    return try await functions.run(command) { reply throws(RedisError) in
      try expectArray(reply, atLeast: 1)
      var reading = SwitchReading(count: try decodeCount(reply[0]))
      for index in stride(from: 1, to: reply.count - 1, by: 2) {
        reading.add(field: reply[index].string, value: Array(reply[index + 1].bytes))
      }
      return reading
    }
  }

  /// Reads what `read` reads, with plain commands: for a user who may only read.
  package func list() async throws(RedisError) -> SwitchReading {
    let key = functions.keys.switches
    let max = StoreLimits.switchesMax
    let count = try await functions.connection.call(RedisCommand("HLEN", key), decode: decodeCount)
    var (others, users): ([(String, String)], [(String, String)]) = ([], [])
    var (cursor, looked) = ("0", 0)
    repeat {
      let page =
        try await functions.connection.call(
          RedisCommand("HSCAN", key, cursor, "COUNT", String(max))
        ).array ?? []
      guard page.count == 2, let next = page[0].string else {
        throw .unexpectedReply("HSCAN has no cursor")
      }
      cursor = next
      for field in page[1].pairs {
        looked += 1
        if field.0.hasPrefix("user|") { users.append(field) } else { others.append(field) }
      }
    } while cursor != "0" && looked < StoreLimits.switchesLookedMax
    var reading = SwitchReading(count: count)
    for (field, value) in (others + users).prefix(max) {
      reading.add(field: field, value: Array(value.utf8))
    }
    return reading
  }

  /// Reads what `read` reads, but without the functions and whatever is first of too many: for a screen.
  package func glance() async throws(RedisError) -> SwitchReading {
    let key = functions.keys.switches
    let connection = functions.connection
    let count = try await connection.call(RedisCommand("HLEN", key), decode: decodeCount)
    var reading = SwitchReading(count: count)
    guard count > 0 else { return reading }
    let fields: RESPValue?
    if count <= StoreLimits.switchesMax {
      fields = try await connection.call(RedisCommand("HGETALL", key))
    } else {
      let page = RedisCommand("HSCAN", key, "0", "COUNT", String(StoreLimits.switchesMax))
      fields = try await connection.call(page).array?.last
    }
    for (field, value) in fields?.pairs ?? [] {
      reading.add(field: field, value: Array(value.utf8))
    }
    return reading
  }

  /// Switches off; nothing when it is off.
  package func switchOff(
    _ killSwitch: KillSwitch, reason: String
  ) async throws(RedisError) -> Answer {
    var command = functions.call("switch_off", killSwitch.field, reason)
    command.append(StoreLimits.switchesMax)
    return try await functions.run(command) { reply throws(RedisError) in
      try expectArray(reply, atLeast: 2)
      let remark = SwitchRemark(Array(reply[1].bytes))
      switch reply[0].string {
      case "OFF": return .off(remark)
      case "ALREADY": return .already(remark)
      case "FULL": return .full
      default: throw .unexpectedReply("switch_off answers \(reply[0].string)")
      }
    }
  }

  /// Switches on. - Returns: whether it was off.
  package func switchOn(_ killSwitch: KillSwitch) async throws(RedisError) -> Bool {
    try await functions.connection.call(
      RedisCommand("HDEL", functions.keys.switches, killSwitch.field), decode: decodeInteger) > 0
  }
}

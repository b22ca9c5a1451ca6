internal import Model
package import Redis

/// Whether the keys that the work stands on hold what they should. Workers move aside what is of another type
/// (Functions/Library/types.lua); this tells of it while none does.
package struct KeyTypes {
  let functions: StoreFunctions

  /// An alarm for each key that holds another type now. It only reads, and needs no functions. Keys that may not be asked are
  /// left out.
  package func alarms(nowMs: Int64) async throws(RedisError) -> [Alarm] {
    var alarms: [Alarm] = []
    for (key, expected) in expected {
      let found: String
      do throws(RedisError) {
        found = try await functions.connection.call(RedisCommand("TYPE", key)) { $0.string }
      } catch {
        guard case .server = error else { throw error }
        continue
      }
      guard found != "none", found != expected else { continue }
      let name = String(key.dropFirst(functions.keys.prefix.count + 1))
      alarms.append(
        Alarm(
          field: AlarmKind.wrongType.field(name), atMs: nowMs, untilMs: nowMs,
          message: key == functions.keys.switches
            ? "\(key) holds a \(found), not a \(expected): what was switched off is lost, and nothing can be switched "
              + "off; a worker that starts sends nothing; delete the key, then switch off anew"
            : "\(key) holds a \(found), not a \(expected), and no work goes on that needs it: "
              + "a worker of this version moves it aside"))
    }
    return alarms
  }

  private var expected: [(String, String)] {
    let keys = functions.keys
    let ofPriorities: [(String, String)] = Priority.allCases.flatMap {
      [(keys.jobs($0), "stream"), (keys.chunks($0), "stream"), (keys.readyApps($0), "zset")]
    }
    return ofPriorities + [
      (keys.delayed, "zset"), (keys.open, "set"), (keys.finished, "stream"), (keys.dead, "stream"),
      (keys.switches, "hash"),
    ]
  }
}

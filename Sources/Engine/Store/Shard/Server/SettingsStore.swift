internal import Model
package import Redis

/// How the Redis itself is set up. It only reads, and needs no functions.
package struct SettingsStore {
  let functions: StoreFunctions

  /// Reads the settings that may be known: with the snapshots where Redis tells of them and it matters, and nil where
  /// INFO is forbidden.
  package func readAllowed() async throws(RedisError) -> RedisSettings? {
    do throws(RedisError) {
      var settings = try await read()
      guard settings.hasAppendOnlyFile == false else { return settings }
      do throws(RedisError) { settings.savePoints = try await savePoints() } catch {
        guard case .server = error else { throw error }
      }
      return settings
    } catch {
      guard case .server = error else { throw error }
      return nil
    }
  }

  /// Reads what INFO tells. A managed Redis allows it where it forbids CONFIG.
  package func read() async throws(RedisError) -> RedisSettings {
    let info = RedisCommand(
      "INFO", "memory", "persistence", "replication", "stats", "keyspace")
    return RedisSettings(info: try await functions.connection.call(info).string ?? "")
  }

  /// When Redis takes snapshots, empty for never, which INFO does not tell.
  /// - Throws: `.server` when that may not be asked.
  package func savePoints() async throws(RedisError) -> String? {
    let pairs = try await functions.connection.call(RedisCommand("CONFIG", "GET", "save")).pairs
    return pairs.first { $0.0 == "save" }?.1
  }

  /// The alarm that Redis refuses all writes now; nil when it does not, or when that may not be asked.
  package func refusalOfWrites(nowMs: Int64) async throws(RedisError) -> Alarm? {
    do throws(RedisError) {
      _ = try await functions.connection.call(RedisCommand("PING"))
      guard try await read().lacksAllReplicas else { return nil }
      return alarm(
        because: .server(code: "NOREPLICAS", message: "Not enough good replicas to write."), nowMs)
    } catch {
      guard case .server(let code, _) = error else { throw error }
      // So it answers as long as it cannot save.
      return code == "MISCONF" ? alarm(because: error, nowMs) : nil
    }
  }

  private func alarm(because error: RedisError, _ nowMs: Int64) -> Alarm {
    let code = if case .server(let code, _) = error { code } else { "" }
    return Alarm(
      field: AlarmKind.refusesWrites.field(code), atMs: nowMs, untilMs: nowMs,
      message: "nothing can be written, and nothing is sent: "
        + error.described(with: error.remedy))
  }
}

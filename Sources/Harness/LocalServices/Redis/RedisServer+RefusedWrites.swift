import Glibc

extension RedisServer {
  /// How long the server may take to try a snapshot, which takes some 10 ms unless the machine is busy.
  private static let savingMsMax: UInt64 = 60_000

  /// Has the server refuse writes (MISCONF), as one whose disk fails: a folder stands where it saves.
  package nonisolated func refuseWrites() async throws {
    mkdir(snapshot, 0o700)
    try await command("CONFIG", "SET", "save", "3600 1")
    try await save(untilStatus: "err")
  }

  package nonisolated func takeWritesAgain() async throws {
    rmdir(snapshot)
    try await save(untilStatus: "ok")
  }

  /// In the folder of the server.
  private nonisolated var snapshot: String {
    socketPath.split(separator: "/", omittingEmptySubsequences: false).dropLast()
      .joined(separator: "/") + "/dump.rdb"
  }

  private nonisolated func save(untilStatus status: String) async throws {
    try await command("BGSAVE")
    let clock = ContinuousClock()
    let deadline = clock.now + .milliseconds(Self.savingMsMax)
    while clock.now < deadline {
      let info = try await command("INFO", "persistence")
      if info.contains("rdb_last_bgsave_status:\(status)"),
        info.contains("rdb_bgsave_in_progress:0")
      {
        return
      }
    }
    throw LocalServiceError("the snapshot of redis-server does not end with \(status)")
  }
}

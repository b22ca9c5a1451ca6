import LocalServices
import Model
import Redis

/// The remains of a stage at rest in Redis and in its processes.
struct StageFootprint: Sendable {
  /// Keys that belong to work: nothing of them may be left when there is none.
  private static let workKeys = [
    "segment", "done", "parked", "open", "delayed", "ready", "unfinished",
  ]
  /// Bytes that allocators keep and by which connections differ.
  private static let residentSlack = 32 * 1_048_576
  private static let descriptorSlack = 6
  private static let clientsSlack = 4
  /// Minutes whose answers are kept (`TALLY_S` of limits.lua), and one that has just begun.
  private static let talliesPerPlace = 4
  private static let lettersShown = 5

  /// Key family (`segment`, `job`…) → keys.
  var keys: [String: Int] = [:]
  /// Entries of work streams: of those that are done none stays.
  var streamed = 0
  /// Dead letters, as a person reads them.
  var letters: [String] = []
  var consumers = 0
  var pending = 0
  var clients = 0
  var residentBytesMax = 0
  var descriptorsMax = 0

  init(_ stage: ChaosStage) async throws {
    var cursor = "0"
    repeat {
      let reply = try await stage.session.command("SCAN", cursor, "COUNT", "1000").array ?? []
      cursor = reply.first?.string ?? "0"
      for key in reply.last?.array ?? [] {
        let parts = (key.string ?? "").split(separator: ":", maxSplits: 2)
        keys[parts.count > 1 ? String(parts[1]) : "", default: 0] += 1
      }
    } while cursor != "0"
    for kind in ["jobs", "chunks"] {
      let counts = await stage.pending(kind)
      consumers = max(consumers, counts.count)
      pending += counts.values.reduce(0, +)
    }
    for priority in Priority.allCases {
      for kind in ["jobs", "chunks"] {
        streamed +=
          try await stage.session.command("XLEN", "pushpool:\(kind):\(priority.rawValue)").integer
          ?? 0
      }
    }
    letters = try await stage.deadLetters().map { letter in
      letter.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.prefix(200))" }
        .joined(separator: ", ")
    }
    let information = try await stage.session.command("INFO", "clients").string ?? ""
    for line in information.split(whereSeparator: \.isNewline)
    where line.hasPrefix("connected_clients:") {
      clients = Int(line.dropFirst("connected_clients:".count)) ?? 0
    }
    for member in await stage.fleet.members {
      guard let usage = try? ProcessUsage(pid: member.child.pid) else { continue }
      residentBytesMax = max(residentBytesMax, usage.residentBytes)
      descriptorsMax = max(descriptorsMax, ProcessUsage.descriptors(of: member.child.pid))
    }
  }

  /// - Parameters:
  ///   - kills: workers that took no leave: their consumers stay for ten minutes.
  ///   - jobs: those of the stage's life, all to one place.
  func compare(with before: StageFootprint, kills: Int, jobs: Int, into result: inout RowResult) {
    compareKeys(with: before, kills: kills, jobs: jobs, into: &result)
    result.expect(streamed == 0, "\(streamed) entries are left in the streams of jobs and chunks")
    // Nothing that the faults do makes a job a bad one.
    result.expect(
      letters.count == before.letters.count,
      "\(letters.count) dead letters, \(before.letters.count) before")
    for letter in letters.prefix(Self.lettersShown) { result.note("dead letter: \(letter)") }
    result.expect(pending == 0, "\(pending) entries are still leased")
    result.expect(
      consumers <= before.consumers + kills,
      "\(consumers) consumers, \(before.consumers) before and \(kills) killed")
    result.expect(
      clients <= before.clients + Self.clientsSlack,
      "\(clients) connections to Redis, \(before.clients) before")
    result.expect(
      residentBytesMax <= before.residentBytesMax + Self.residentSlack,
      "a worker holds \(residentBytesMax / 1_048_576) MiB, "
        + "\(before.residentBytesMax / 1_048_576) MiB before")
    result.expect(
      descriptorsMax <= before.descriptorsMax + Self.descriptorSlack,
      "a worker has \(descriptorsMax) descriptors, \(before.descriptorsMax) before")
    result.note(
      "left: \(consumers) consumers, \(clients) connections to Redis, "
        + "\(residentBytesMax / 1_048_576) MiB and \(descriptorsMax) descriptors at most of a worker; "
        + "before: \(before.consumers), \(before.clients), "
        + "\(before.residentBytesMax / 1_048_576) MiB, \(before.descriptorsMax)")
  }

  private func compareKeys(
    with before: StageFootprint, kills: Int, jobs: Int, into result: inout RowResult
  ) {
    for family in Self.workKeys {
      let count = keys[family] ?? 0
      result.expect(count == 0, "\(count) keys of the kind \(family) are left")
    }
    for family in ["user", "token", "credential", "worker"] {
      let counts = (keys[family] ?? 0, before.keys[family] ?? 0)
      // A worker's HASH outlives it by two minutes.
      let slack = family == "worker" ? kills : 0
      result.expect(
        counts.0 <= counts.1 + slack, "\(counts.0) keys of the kind \(family), \(counts.1) before")
    }
    // A trace lives for days after its job, and a job has no more than one.
    for (family, most) in [("trace", jobs), ("tally", Self.talliesPerPlace)] {
      let count = keys[family] ?? 0
      result.expect(count <= most, "\(count) keys of the kind \(family), at most \(most)")
    }
  }
}

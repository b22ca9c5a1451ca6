/// The record of when workers called themselves ready, and of when servers called themselves replicas. No worker is ready at a
/// replica.
struct Readiness: Sendable {
  /// A server's own word for its role. It was asked for at this time, in epoch milliseconds.
  private struct Look: Sendable {
    let atMs: Int64
    let isReplica: Bool
  }

  /// How long a worker may go on being ready at a server that becomes a replica: a node of a cluster leaves connections open, so
  /// a worker may hear of it by its next beat, and write it down a second later.
  static let graceMs: Int64 = 2_000
  /// How much earlier than it is a file's time may be: it is that of the kernel's last tick.
  private static let tickMs: Int64 = 20

  private let graceMs: Int64
  /// By the server's port, in the order of time.
  private var looks: [UInt16: [Look]] = [:]
  /// By the worker's number: when it wrote that it is ready.
  private var readyTimes: [Int: [Int64]] = [:]

  init(graceMs: Int64 = Readiness.graceMs) { self.graceMs = graceMs }

  /// Times of a server come in order.
  mutating func note(server port: UInt16, isReplica: Bool, atMs: Int64) {
    looks[port, default: []].append(Look(atMs: atMs, isReplica: isReplica))
  }

  /// Counts what is seen again once.
  mutating func note(readyWorker number: Int, writtenMs: Int64) {
    guard readyTimes[number]?.last != writtenMs else { return }
    readyTimes[number, default: []].append(writtenMs)
  }

  /// - Parameter arrivals: by the worker's number, in the order of time.
  func report(_ arrivals: [Int: [RedisArrival]]) -> ReadinessReport {
    var report = ReadinessReport()
    for (number, times) in readyTimes.sorted(by: { $0.key < $1.key }) {
      for atMs in times {
        report.readyCount += 1
        let arrival = arrivals[number]?.last { $0.atMs <= atMs + Self.tickMs }
        guard let arrival else {
          report.faults.append("the log of worker \(number), which is ready, names no server")
          continue
        }
        if wasReplica(arrival.port, allOf: graceMs, until: atMs) {
          report.faults.append(
            "worker \(number) called itself ready at 127.0.0.1:\(arrival.port), "
              + "which had been a replica for over \(graceMs) ms")
        }
      }
    }
    return report
  }

  /// Whether a server called itself a replica at each look from so long before an instant until after it.
  private func wasReplica(_ port: UInt16, allOf spanMs: Int64, until atMs: Int64) -> Bool {
    let looks = looks[port] ?? []
    guard let first = looks.lastIndex(where: { $0.atMs <= atMs - spanMs }),
      let last = looks.firstIndex(where: { $0.atMs >= atMs })
    else { return false }
    return looks[first...last].allSatisfy(\.isReplica)
  }
}

/// The result of what was seen of workers' readiness.
struct ReadinessReport: Sendable, Equatable {
  /// How often workers called themselves ready.
  var readyCount = 0
  /// A sentence for each time that one was not to.
  var faults: [String] = []
}

extension RowResult {
  private static let readinessFaultsToldMax = 3

  /// Fails where a worker was ready at a replica, or none was seen to be ready at all.
  mutating func take(_ report: ReadinessReport, _ name: String) {
    expect(report.readyCount > 0, "\(name): no worker was seen to be ready")
    expect(
      report.faults.isEmpty,
      "\(name): \(report.faults.count) times a worker was ready where it must not be: "
        + report.faults.prefix(Self.readinessFaultsToldMax).joined(separator: "; "))
  }
}

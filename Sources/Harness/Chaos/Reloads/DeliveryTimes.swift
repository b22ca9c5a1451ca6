/// The times from enqueue to accept of jobs to one user each: before the configuration is rewritten, and meanwhile.
struct DeliveryTimes: Sendable {
  /// The jobs that are timed: the ledger's number → when it was enqueued, in epoch milliseconds.
  typealias Starts = [Int: Int64]

  /// How much longer they may take meanwhile, beside the time that a reload itself may cost.
  private static let factorMax: Int64 = 2
  private static let reloadMsMax: Int64 = 10

  /// Milliseconds, in order.
  private let before: [Int64]
  private let during: [Int64]

  /// - Parameters:
  ///   - accepts: when the push of each job was accepted, in epoch milliseconds. A job without one is not counted: it was lost,
  ///     which the reckoning tells.
  ///   - before: when jobs were enqueued that count as before, in epoch milliseconds.
  ///   - during: likewise.
  init(_ starts: Starts, accepts: [Int: Int64], before: Range<Int64>, during: Range<Int64>) {
    func times(_ span: Range<Int64>) -> [Int64] {
      starts.filter { span.contains($0.value) }
        .compactMap { job, startMs in accepts[job].map { $0 - startMs } }.sorted()
    }
    self.before = times(before)
    self.during = times(during)
  }

  /// The smallest time that so many of a hundred do not exceed (nearest rank); nil without any.
  private static func percentile(_ percent: Int, of times: [Int64]) -> Int64? {
    times.isEmpty ? nil : times[max((percent * times.count + 99) / 100, 1) - 1]
  }

  /// The sentence that fails the row; nil when there is none.
  /// - Parameter isLimited: whether they may not take much longer than before; else they only have to be there.
  func failure(isLimited: Bool) -> String? {
    guard let calmMs = Self.percentile(99, of: before),
      let ms = Self.percentile(99, of: during)
    else {
      return
        "\(before.count) deliveries were timed before the first rewrite and \(during.count) after it"
    }
    let allowedMs = Self.factorMax * calmMs + Self.reloadMsMax
    guard isLimited, ms > allowedMs else { return nil }
    return
      "jobs of one user each took \(ms) ms (p99) during the rewrites and \(calmMs) before them; "
      + "at most \(allowedMs) are allowed"
  }

  var sentence: String {
    "from enqueue to accept of jobs of one user each: \(Self.text(before)) before the rewrites, "
      + "\(Self.text(during)) during them"
  }

  private static func text(_ times: [Int64]) -> String {
    guard let p50 = percentile(50, of: times), let p99 = percentile(99, of: times),
      let longest = times.last
    else { return "none" }
    return "p50 \(p50) ms, p99 \(p99) ms, at most \(longest) ms of \(times.count)"
  }
}

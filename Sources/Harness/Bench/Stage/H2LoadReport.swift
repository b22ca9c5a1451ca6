/// The report that h2load prints at its end.
package struct H2LoadReport: Sendable, Equatable {
  package var requestsPerSecond: Double
  package var succeeded: Int
  package var failed: Int

  /// Nil when it is not a report of h2load's.
  package init?(_ text: String) {
    var rate: Double?
    var succeeded: Int?
    var failed: Int?
    for line in text.split(separator: "\n") {
      if line.hasPrefix("finished in ") {
        // finished in 2.31s, 129870.13 req/s, 3.10MB/s
        rate = Self.number(before: "req/s", in: line).flatMap { Double($0) }
      } else if line.hasPrefix("requests: ") {
        // requests: 9 total, 9 started, 9 done, 9 succeeded, 0 failed, 0 errored, 0 timeout
        let fields = line.dropFirst("requests: ".count)
        succeeded = Self.number(before: "succeeded", in: fields).flatMap { Int($0) }
        failed = Self.number(before: "failed", in: fields).flatMap { Int($0) }
      }
    }
    guard let rate, let succeeded, let failed else { return nil }
    requestsPerSecond = rate
    self.succeeded = succeeded
    self.failed = failed
  }

  private static func number(before word: String, in line: Substring) -> Substring? {
    for field in line.split(separator: ",") {
      let words = field.split(separator: " ")
      if words.last.map({ $0 == word }) == true { return words.dropLast().last }
    }
    return nil
  }
}

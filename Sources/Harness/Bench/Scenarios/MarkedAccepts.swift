import Glibc

/// The lines of an accept log whose tokens are marked, among millions that are not.
enum MarkedAccepts {
  /// How long the pushes to marked users took, in milliseconds.
  /// - Parameter starts: user → when the user's job was enqueued, in epoch milliseconds.
  /// - Throws: when one of them is not in the log.
  static func latencies(
    _ starts: some Collection<(key: Int, value: Int64)>, _ population: Population, in path: String
  ) throws(BenchError) -> [Double] {
    let accepted = try read(path)
    var latencies: [Double] = []
    for (user, startMs) in starts {
      guard let atMs = accepted[population.tokenText(user)] else {
        throw BenchError("the push to \(population.user(user)) was not accepted")
      }
      latencies.append(Double(atMs - startMs))
    }
    return latencies
  }

  /// - Returns: token → epoch milliseconds.
  package static func read(_ path: String) throws(BenchError) -> [String: Int64] {
    guard let file = fopen(path, "re") else { throw BenchError("cannot read \(path)") }
    defer { fclose(file) }
    var line: UnsafeMutablePointer<CChar>?
    var capacity = 0
    defer { free(line) }
    var accepts: [String: Int64] = [:]
    while true {
      let length = getline(&line, &capacity, file)
      guard length > 0, let line else { return accepts }
      guard strstr(line, " \(Population.markPrefix)") != nil else { continue }
      // epoch_ms network token …
      let fields = String(cString: line).split(separator: " ", maxSplits: 3)
      if fields.count > 2, let ms = Int64(fields[0]) { accepts[String(fields[2])] = ms }
    }
  }
}

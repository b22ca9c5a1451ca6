import Glibc

/// The simulator's accept log, read line by line.
enum AcceptLogFile {
  static func forEach(_ path: String, _ body: (AcceptLine) -> Void) throws(ChaosError) {
    guard let file = fopen(path, "re") else {
      throw ChaosError("the accept log \(path) cannot be read")
    }
    defer { fclose(file) }
    let block = UnsafeMutableRawBufferPointer.allocate(
      byteCount: ChaosLimits.logBlockBytes, alignment: 1)
    defer { block.deallocate() }
    var kept = 0
    while true {
      let count = fread(block.baseAddress! + kept, 1, block.count - kept, file)
      guard count > 0 else { break }
      let filled = UnsafeRawBufferPointer(rebasing: block[..<(kept + count)])
      var start = 0
      while let end = memchr(filled.baseAddress! + start, 0x0a, filled.count - start) {
        let offset = filled.baseAddress!.distance(to: UnsafeRawPointer(end))
        let line = UnsafeRawBufferPointer(rebasing: filled[start..<offset])
        guard let parsed = AcceptLine(line) else {
          throw ChaosError(
            "the accept log has a line that cannot be read: "
              + String(decoding: line, as: UTF8.self))
        }
        body(parsed)
        start = offset + 1
      }
      kept = filled.count - start
      memmove(block.baseAddress!, filled.baseAddress! + start, kept)
    }
  }

  /// The connections that jobs of an app came by.
  static func connections(
    of app: String, _ entries: [LedgerEntry], _ path: String
  ) throws(ChaosError) -> Set<Int> {
    let isOfApp = entries.map { $0.app == app }
    var found: Set<Int> = []
    try forEach(path) { line in
      guard let job = line.job, job < isOfApp.count, isOfApp[job] else { return }
      if let connection = line.connection { found.insert(connection) }
    }
    return found
  }

  /// When these jobs were accepted first: the ledger's number → epoch milliseconds. One that was not is missing.
  static func firstAccepts(
    of jobs: Set<Int>, _ path: String
  ) throws(ChaosError) -> [Int: Int64] {
    var found: [Int: Int64] = [:]
    try forEach(path) { line in
      guard let job = line.job, jobs.contains(job) else { return }
      found[job] = min(line.atMs, found[job] ?? .max)
    }
    return found
  }

  /// How many pushes were accepted within a span of epoch milliseconds.
  static func accepts(within span: Range<Int64>, _ path: String) throws(ChaosError) -> Int {
    var count = 0
    try forEach(path) { if span.contains($0.atMs) { count += 1 } }
    return count
  }

  /// How many bytes it has, which grow with each accept.
  static func bytes(_ path: String) -> Int {
    var information = stat()
    return stat(path, &information) == 0 ? Int(information.st_size) : 0
  }
}

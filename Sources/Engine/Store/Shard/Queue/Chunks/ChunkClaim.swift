package import Model
internal import Redis

/// A chunk that a consumer owns: its lease lasts as long as it is settled or beaten for in time.
package struct ChunkClaim: Sendable, Equatable {
  package let priority: Priority
  /// The stream entry; with the priority it names the lease.
  package let entry: String
  package let app: String
  package let job: String
  package let segment: String
  package let source: String
  /// Workers that lost this chunk before.
  package let crashes: Int
  /// Whether its job keeps to a pace.
  package let isPaced: Bool
  package let lines: ChunkLines
  /// Lines that were settled before.
  package let done: DoneBitmap
  package let recipients: [UInt8]
  /// The digest of its job, by which that is told from another of its name and source.
  package let digest: String

  /// Whether it is what an earlier chunk set aside to be tried later.
  package var isResidual: Bool { segment.hasPrefix("r") }

  /// The start of its job that it belongs to, by its number; nil for a job that starts once.
  package var round: Int? {
    segment.lastIndex(of: "@").flatMap { Int(segment[segment.index(after: $0)...]) }
  }

  /// The only chunk of a job that is sent from its entry.
  init(of job: JobEntry, _ admission: Admission, as entry: String) {
    priority = job.priority
    self.entry = entry
    app = admission.app
    self.job = admission.id
    segment = "1"
    source = job.source
    crashes = 0
    isPaced = false
    lines = admission.audience.lines
    done = DoneBitmap()
    recipients = admission.audience.texts.first ?? []
    digest = admission.digest
  }

  init(_ reply: RedisReply) throws(RedisError) {
    try expectArray(reply, atLeast: 12)
    priority = try decodeWord(reply[0])
    entry = try decodeEntry(reply[1])
    app = reply[2].string
    job = reply[3].string
    segment = reply[4].string
    source = reply[5].string
    crashes = try decodeCount(reply[6])
    isPaced = try decodeCount(reply[7]) > 0
    lines = try decodeWord(reply[8])
    done = DoneBitmap(bytes: Array(reply[9].bytes))
    recipients = Array(reply[10].bytes)
    digest = reply[11].string
  }

  static func list(_ reply: RedisReply) throws(RedisError) -> [ChunkClaim] {
    var claims: [ChunkClaim] = []
    claims.reserveCapacity(reply.count)
    for index in 0..<reply.count { claims.append(try ChunkClaim(reply[index])) }
    return claims
  }

  /// Claims, and behind them perhaps the word that there may be more.
  static func listAndMore(
    _ reply: RedisReply
  ) throws(RedisError) -> (claims: [ChunkClaim], isMore: Bool) {
    var claims: [ChunkClaim] = []
    claims.reserveCapacity(reply.count)
    for index in 0..<reply.count {
      guard reply[index].kind == .array else { return (claims, true) }
      claims.append(try ChunkClaim(reply[index]))
    }
    return (claims, false)
  }
}

import Model
import Testing

@testable import Store

@Suite struct LimitTests {
  /// The value of a limit of the functions, which is a product of numbers.
  private static func limit(_ name: String) throws -> Int {
    let lines = String(decoding: StoreLibrary.source, as: UTF8.self).split(separator: "\n")
    let line = try #require(lines.first { $0.hasPrefix("  \(name) = ") })
    let value = try #require(line.dropFirst(name.count + 5).split(separator: ",").first)
    return try value.split(separator: "*").reduce(1) { product, factor in
      product * (try #require(Int(factor.filter { $0 != " " })))
    }
  }

  @Test(arguments: [
    ("LETTER_BYTES_MAX", StoreLimits.letterBytesMax),
    ("TAKEN_BYTES_MAX", StoreLimits.takenBytesMax),
    ("EXPRESS_PER_APP", StoreLimits.toldAheadPerApp - 1),
    ("GLANCE_BYTES", StoreLimits.glanceBytes),
    ("SEGMENT_USERS_MAX", Limits.chunkRecipientsMax),
    ("USER_BYTES_MAX", Limits.userBytesMax),
    ("INSTALLATIONS_PER_USER_MAX", Limits.installationsPerUserMax),
    ("NOTICES_MAX", StoreLimits.noticesMax), ("APP_BYTES_MAX", Limits.appBytesMax),
    ("JOB_ID_BYTES_MAX", Limits.jobIDBytesMax),
    ("BLOCK_MAX", StoreLimits.indexBlockMax), ("DEPARTED_MS", Int(StoreLimits.departedMs)),
    ("DEPARTED_MAX", StoreLimits.departedMax),
    ("DEPARTED_TOKEN_BYTES_MAX", StoreLimits.departedTokenBytesMax),
    ("WALKED_AT_ONCE", StoreLimits.walkedAtOnce),
    ("NAMED_BYTES_MAX", StoreLimits.submittedBytesMax),
  ])
  func `a limit that the functions and the program both have is of one value`(
    name: String, value: Int
  ) throws {
    #expect(try Self.limit(name) == value)
  }

  @Test func `all segments of the largest job are dropped with it`() throws {
    #expect(
      try Self.limit("SEGMENTS_MAX") * Limits.chunkRecipientsMax >= Limits.usersPerJobMax)
  }
}

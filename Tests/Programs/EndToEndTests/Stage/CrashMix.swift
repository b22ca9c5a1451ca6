import Model

/// A small mix of jobs that visits every call of a worker: several segments, a retry, a dead token, slow answers,
/// an audience of tokens, and one that is refused. The mixes of two points share nothing.
struct CrashMix {
  let number: Int
  /// Whether the many are slow enough to be interrupted.
  let isSlow: Bool

  private var first: Int { number * 10_000 }
  /// A lane resolves some 530 recipients ahead: of more than that it hands some back when it is told to end.
  private var many: Range<Int> { first..<first + (isSlow ? 800 : 300) }
  /// Chunks of the many.
  static func chunksMax(isSlow: Bool) -> Int { isSlow ? 4 : 2 }
  var lostID: String { "lost-\(number)" }
  var lostJob: String { Devices.job(lostID, first + 2_900..<first + 2_901) }
  var badJob: String { "{\"id\": \"bad-\(number)\", \"app\": \"shop\", \"audience\": {}}" }

  func ids(hasLost: Bool) -> [String] {
    ["many-\(number)", "few-\(number)", "tokens-\(number)"] + (hasLost ? [lostID] : [])
  }

  /// What the first push to this mix's retried token begins with, and no other mix's.
  static func retriedPrefix(_ number: Int) -> String {
    let digits = String(number, radix: 16)
    return "b" + String(repeating: "0", count: 3 - digits.count) + digits
  }

  func installations() throws -> [Installation] {
    try manyInstallations() + fewInstallations()
      + [
        try Devices.apns(first + 2_800, prefix: "dead"),
        try Devices.apns(first + 2_900, prefix: "d1"),
      ]
  }

  private func manyInstallations() throws -> [Installation] {
    try many.map { try Devices.apns($0, user: oneOfMany($0), prefix: isSlow ? "c1" : "a0") }
  }

  /// A name so long that the segments of the many are uploaded before the job is admitted.
  private func oneOfMany(_ number: Int) -> String {
    "u\(number)-" + String(repeating: "x", count: 64)
  }

  /// One after another: an ordinary one, one to retry, one that is slow, two for the job to tokens.
  private func fewInstallations() throws -> [Installation] {
    let prefixes = ["a0", Self.retriedPrefix(number), "c0", "a0", "a0"]
    return try prefixes.enumerated().map { try Devices.apns(first + 2_700 + $0, prefix: $1) }
  }

  func jobs() throws -> [String] {
    let few = (first + 2_700..<first + 2_703).map { "\"u\($0)\"" } + ["\"u\(first + 2_800)\""]
    let tokens = try fewInstallations()[3...].map {
      "{\"network\": \"apns\", \"token\": \"\($0.token.text)\"}"
    }
    let notification = "\"notification\": {\"title\": \"Hello\", \"body\": \"World\"}"
    return [
      badJob,
      """
      {"id": "few-\(number)", "app": "shop", "audience": {"users": [\(few.joined(separator: ","))]},
       \(notification)}
      """,
      """
      {"id": "tokens-\(number)", "app": "shop",
       "audience": {"installations": [\(tokens.joined(separator: ","))]}, \(notification)}
      """,
      Devices.job("many-\(number)", users: many.map(oneOfMany)),
    ]
  }

  func acceptedTokens() throws -> Set<String> {
    Set(try (manyInstallations() + fewInstallations()).map(\.token.text))
  }

  func owns(_ token: String) -> Bool { isIn(first..<first + 10_000, token) }

  func isOneOfMany(_ token: String) -> Bool { isIn(many, token) }

  private func isIn(_ numbers: Range<Int>, _ token: String) -> Bool {
    Int(token.suffix(8), radix: 16).map { numbers.contains($0) } ?? false
  }
}

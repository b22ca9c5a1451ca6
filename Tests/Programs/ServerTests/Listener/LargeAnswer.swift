import Testing

/// An answer of some MB, of which the system takes but a part ahead of a client that does not read.
struct LargeAnswer {
  /// The window of a client that reads it slowly.
  static let window: CInt = 65_536

  /// Many lines that name a field which no installation has; the answer tells of each which fields there are.
  static func request(key: String) -> String {
    let body = String(repeating: "{\"zz\": 1}\n", count: 10_000)
    return "POST /v1/apps/shop/installations:batch HTTP/1.1\r\nHost: a\r\n"
      + "Authorization: Bearer \(key)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
  }

  /// How many bytes it has, with its head.
  let length: Int
  /// How many have come.
  private(set) var count: Int

  var isWhole: Bool { count == length }

  /// Reads its head, and a little more.
  init(from connection: RawConnection) async throws {
    let begun = await connection.text(until: "\r\n\r\n")
    let head = begun.components(of: "\r\n\r\n")[0] + "\r\n\r\n"
    let answer = try #require(RawAnswer(Array(head.utf8)), "\(begun)")
    #expect(answer.status == 200)
    let bodyLength = try #require(answer.headers["content-length"].flatMap { Int($0) })
    #expect(bodyLength > 2 << 20)
    length = head.utf8.count + bodyLength
    count = begun.utf8.count
  }

  /// Reads some more.
  mutating func takePart(bytesMax: Int, from connection: RawConnection) async {
    count += await connection.part(bytesMax: bytesMax).bytes.count
  }

  /// Reads until the server closes the connection.
  mutating func takeRest(from connection: RawConnection) async {
    let rest = await connection.rest()
    #expect(rest.isClosed)
    count += rest.bytes.count
  }
}

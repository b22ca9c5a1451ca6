import Glibc
import HTTP2

/// The answer to a request as far as it has come.
struct CurlAnswer {
  /// 0 until a status line came.
  private(set) var status = 0
  private(set) var retryAfter = RetryAfter()
  /// The body, up to a bound.
  private(set) var body: [UInt8] = []
  /// Whether the body had more length than is kept: libcurl was told to stop there.
  private(set) var isCut = false
  /// Whether its Content-Type is JSON's, and what it is otherwise.
  private var hasJSONType = false
  private var oddType: [UInt8] = []

  private static let jsonType = Array(ContentType.json)

  /// Its Content-Type, up to a bound; empty without one.
  var type: [UInt8] { oddType.isEmpty && hasJSONType ? Self.jsonType : oddType }

  /// - Returns: false when the rest of the answer is not wanted.
  mutating func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let room = HTTP2Limits.answerBodyBytesMax - body.count
    body.append(contentsOf: bytes.prefix(room))
    isCut = bytes.count > room
    return !isCut
  }

  /// - Parameter line: the status line, or a line of the header.
  mutating func note(_ line: UnsafeRawBufferPointer) {
    // "HTTP/2 200" begins each answer, an interim one too.
    if line.count >= 10, memcmp(line.baseAddress!, "HTTP/", 5) == 0 {
      status = 0
      hasJSONType = false
      oddType = []
      guard let space = line.firstIndex(of: 0x20) else { return }
      for byte in line[(space + 1)...].prefix(3) where byte >= 48 && byte <= 57 {
        status = status * 10 + Int(byte - 48)
      }
    } else if line.count > 13, strncasecmp(line.baseAddress!, "content-type:", 13) == 0 {
      let value = Self.value(of: line, after: 13)
      hasJSONType = ContentType.isJSON(value)
      oddType = hasJSONType ? [] : Array(value.prefix(HTTP2Limits.contentTypeBytesMax))
    } else if line.count > 12, strncasecmp(line.baseAddress!, "retry-after:", 12) == 0 {
      retryAfter.note(Self.value(of: line, after: 12))
    } else if status == 429, line.count > 19,
      strncasecmp(line.baseAddress!, "x-rate-limit-reset:", 19) == 0
    {
      retryAfter.noteRateReset(Self.value(of: line, after: 19))
    } else if status != 200, line.count > 5, strncasecmp(line.baseAddress!, "date:", 5) == 0 {
      retryAfter.noteDate(Self.value(of: line, after: 5))
    }
  }

  /// Without the blanks around it and the end of the line.
  private static func value(
    of line: UnsafeRawBufferPointer, after nameBytes: Int
  ) -> UnsafeRawBufferPointer {
    let value = line[nameBytes...].drop { $0 <= 0x20 }.prefix { $0 >= 0x20 }
    let end = value.lastIndex { $0 > 0x20 }.map { $0 + 1 } ?? value.startIndex
    return UnsafeRawBufferPointer(rebasing: value[..<end])
  }
}

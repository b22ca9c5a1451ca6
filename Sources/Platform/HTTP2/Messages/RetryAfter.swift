/// The Retry-After header (RFC 9110, 10.2.3) of one answer, with the Date header that a date in it is relative to.
package struct RetryAfter: Equatable, Sendable {
  /// More is read as this; how much of it is waited, those who wait decide.
  package static let secondsMax = 86_400

  /// -1 for anything but a number.
  private var delay: Int32 = -1
  /// The instant that it names instead, in seconds since 1970; 0 for none.
  private var untilSeconds: Int64 = 0
  /// When the peer sent the answer, by its own clock; 0 when it did not say.
  private var sentSeconds: Int64 = 0

  package init() {}

  /// Reads headers that came as text; nil for one that did not come.
  package init(value: String?, date: String?) {
    if let value { Array(value.utf8).withUnsafeBytes { note($0) } }
    if let date { Array(date.utf8).withUnsafeBytes { noteDate($0) } }
  }

  /// Takes the value of a Retry-After header. One that is neither a number nor a date is as good as none, and so is a negative
  /// one. Of a fraction, which RFC 9110 does not know and servers send, the next whole second is taken.
  package mutating func note(_ value: UnsafeRawBufferPointer) {
    delay = Self.number(value)
    untilSeconds = delay < 0 ? HTTPDate.epochSeconds(value) ?? 0 : 0
  }

  /// Takes the value of the X-Rate-Limit-Reset header of a 429, by which JPush says in how many seconds calls are allowed
  /// again. A Retry-After goes before it.
  package mutating func noteRateReset(_ value: UnsafeRawBufferPointer) {
    if delay < 0, untilSeconds == 0 { delay = Self.number(value) }
  }

  /// Takes the value of a Date header.
  package mutating func noteDate(_ value: UnsafeRawBufferPointer) {
    sentSeconds = HTTPDate.epochSeconds(value) ?? 0
  }

  /// How long to wait, in seconds, at most a day; nil when the answer does not say.
  /// - Parameter nowMs: by our clock, for a date in an answer without a Date header.
  package func seconds(nowMs: Int64) -> Int? {
    if delay >= 0 { return Int(delay) }
    guard untilSeconds > 0 else { return nil }
    let sinceSeconds = sentSeconds > 0 ? sentSeconds : nowMs / 1_000
    return Int(min(max(0, untilSeconds - sinceSeconds), Int64(Self.secondsMax)))
  }

  private static func number(_ text: UnsafeRawBufferPointer) -> Int32 {
    let point = text.firstIndex(of: UInt8(ascii: "."))
    let digits = text[..<(point ?? text.endIndex)]
    guard !digits.isEmpty, digits.allSatisfy(isDigit) else { return -1 }
    var seconds = digits.reduce(0) { min(secondsMax, $0 * 10 + Int($1 - 48)) }
    if let point {
      let fraction = text[(point + 1)...]
      guard !fraction.isEmpty, fraction.allSatisfy(isDigit) else { return -1 }
      if fraction.contains(where: { $0 != 48 }) { seconds = min(secondsMax, seconds + 1) }
    }
    return Int32(seconds)
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }
}

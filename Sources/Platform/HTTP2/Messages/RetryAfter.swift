/// The Retry-After header (RFC 9110, 10.2.3) of one answer, with the Date header that a date in it is relative to.
package struct RetryAfter: Equatable, Sendable {
  package static let secondsMax = 86_400

  /// -1 for anything but a plain number.
  private var delay: Int32 = -1
  /// The instant that it names instead, in seconds since 1970; 0 for none.
  private var untilSeconds: Int64 = 0
  /// When the peer sent the answer, by its own clock; 0 when it did not say.
  private var sentSeconds: Int64 = 0

  package init() {}

  /// Of headers that came as text; nil for one that did not come.
  package init(value: String?, date: String?) {
    if let value { Array(value.utf8).withUnsafeBytes { note($0) } }
    if let date { Array(date.utf8).withUnsafeBytes { noteDate($0) } }
  }

  /// Takes the value of a Retry-After header. One that is neither a number nor a date is as good as none.
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

  private static func number(_ digits: UnsafeRawBufferPointer) -> Int32 {
    guard !digits.isEmpty else { return -1 }
    var seconds = 0
    for digit in digits {
      guard digit >= 48, digit <= 57 else { return -1 }
      seconds = min(secondsMax, seconds * 10 + Int(digit - 48))
    }
    return Int32(seconds)
  }
}

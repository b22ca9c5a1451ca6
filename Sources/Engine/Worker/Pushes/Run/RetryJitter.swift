/// The random part of a run's retries, drawn once for each attempt: what fails alike is tried again together.
struct RetryJitter {
  private var drawn: [Int: UInt64] = [:]

  mutating func value(attempt: Int) -> UInt64 {
    if let value = drawn[attempt] { return value }
    let value = UInt64.random(in: .min ... .max)
    drawn[attempt] = value
    return value
  }
}

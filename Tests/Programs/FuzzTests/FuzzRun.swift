import LocalServices
import Glibc
import Testing

/// Rounds of random input until the time is over: `PUSHPOOL_FUZZ_SECONDS` for each test, 2 without it.
/// `PUSHPOOL_FUZZ_SEED` repeats a run from its beginning.
enum FuzzRun {
  static func each(
    _ what: String, _ round: (inout SeededDice) async throws -> Void
  ) async throws {
    let seconds = number("PUSHPOOL_FUZZ_SECONDS") ?? 2
    let seed = number("PUSHPOOL_FUZZ_SEED") ?? .random(in: 0..<1_000_000_000)
    // Said first: a crash says nothing any more.
    print("fuzz: \(what) from PUSHPOOL_FUZZ_SEED=\(seed)")
    let end = ContinuousClock.now + .seconds(seconds)
    var rounds: UInt64 = 0
    while ContinuousClock.now < end || rounds < 20 {
      var random = SeededDice(seed: UInt64(seed) &+ rounds)
      do { try await round(&random) } catch {
        Issue.record("\(what), PUSHPOOL_FUZZ_SEED=\(UInt64(seed) &+ rounds): \(error)")
        return
      }
      rounds += 1
    }
    print("fuzz: \(what): \(rounds) rounds")
  }

  private static func number(_ name: String) -> Int? {
    getenv(name).flatMap { Int(String(cString: $0)) }
  }
}

/// A property that does not hold.
struct Broken: Error, CustomStringConvertible {
  let description: String
}

extension SeededDice {
  /// Bytes that parsers trip over.
  private static let telling: [UInt8] = [
    0, 0x09, 0x0a, 0x0d, 0x20, 0x22, 0x24, 0x2a, 0x2b, 0x2c, 0x2d, 0x2e, 0x2f, 0x3a, 0x3f, 0x5b,
    0x5c,
    0x5d, 0x65, 0x7b, 0x7d, 0x7f, 0x80, 0xc0, 0xed, 0xf4, 0xff,
  ]

  mutating func byte() -> UInt8 {
    chance(percent: 60) ? pick(Self.telling)! : UInt8(below(256))
  }

  /// The bytes with a few places changed, left out, doubled or cut.
  mutating func mutated(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<(1 + below(4)) {
      guard !bytes.isEmpty else { return [byte()] }
      let at = below(bytes.count)
      let end = min(bytes.count, at + 1 + below(16))
      switch below(6) {
      case 0: bytes[at] = byte()
      case 1: bytes.insert(byte(), at: at)
      case 2: bytes.removeSubrange(at..<end)
      case 3: bytes.insert(contentsOf: bytes[at..<end], at: below(bytes.count + 1))
      case 4: bytes.removeSubrange(at...)
      default: bytes[at] ^= 1 << UInt8(below(8))
      }
    }
    return bytes
  }
}

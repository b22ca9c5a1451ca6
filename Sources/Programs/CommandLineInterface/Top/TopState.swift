internal import Model

/// The content of the screen of `top`, and how it is shown: a value that looks and keys change.
struct TopState: Sendable, Equatable {
  enum Order: String, Sendable, CaseIterable {
    case busiest = "busiest first"
    case name = "by name"
  }

  /// Installations that ended in a second.
  struct Rate: Sendable, Equatable {
    var accepted: Double
    var others: Double
  }

  /// Which Redis it is.
  let place: String
  private(set) var look: TopLook?
  private(set) var rates: [TopLook.Lane: Rate] = [:]
  private(set) var order = Order.busiest
  private(set) var isPaused = false
  /// Lines of the body above the screen.
  private(set) var scroll = 0
  /// Why there is no newer look; nil while there is one.
  var problem: String?

  init(place: String) { self.place = place }

  /// Takes the next look. Rates are of the time since the one before, however many failed between them.
  mutating func take(_ next: TopLook) {
    rates = next.lastMinute.mapValues {
      Rate(accepted: Double($0.accepted) / 60, others: Double($0.others) / 60)
    }
    let elapsedMs = next.talliedAtMs - (look?.talliedAtMs ?? next.talliedAtMs)
    if let look, elapsedMs > 0 {
      for (lane, tally) in next.tallies {
        // A lane that is missing in a whole look has begun since. In another it may have been left out.
        guard let before = look.tallies[lane] ?? (look.isWhole ? TopLook.Tally() : nil),
          // Totals that fall have begun anew.
          tally.accepted >= before.accepted, tally.others >= before.others
        else { continue }
        func perSecond(_ count: Int) -> Double { Double(count) * 1_000 / Double(elapsedMs) }
        rates[lane] = Rate(
          accepted: perSecond(tally.accepted - before.accepted),
          others: perSecond(tally.others - before.others))
      }
    }
    look = next
    problem = nil
  }

  mutating func press(_ key: TopKey) {
    switch key {
    case .quit: return
    case .pause: isPaused.toggle()
    case .sort: order = order == .busiest ? .name : .busiest
    case .up: scroll = max(0, scroll - 1)
    case .down: scroll = min(scroll + 1, CommandLineLimits.topRowsMax)
    }
  }

  /// Keeps the last line of the body on the screen.
  mutating func limitScroll(to max: Int) { scroll = min(scroll, max) }
}

/// A key of `top`.
enum TopKey: Sendable, Equatable {
  case quit, pause, sort, up, down

  /// The keys in what a terminal sent. What is none of them is passed over.
  static func all(in bytes: [UInt8]) -> [TopKey] {
    var keys: [TopKey] = []
    var rest = bytes[...]
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "q"), UInt8(ascii: "Q"): keys.append(.quit)
      case UInt8(ascii: "p"), UInt8(ascii: "P"): keys.append(.pause)
      case UInt8(ascii: "s"), UInt8(ascii: "S"): keys.append(.sort)
      case UInt8(ascii: "k"): keys.append(.up)
      case UInt8(ascii: "j"): keys.append(.down)
      case 0x1B:
        // An arrow, in either of the modes that a terminal may be in (ECMA-48, and application mode of DEC).
        guard let next = rest.first, next == UInt8(ascii: "[") || next == UInt8(ascii: "O") else {
          continue
        }
        rest.removeFirst()
        // Whatever belongs to the sequence is no key.
        while let part = rest.popFirst() {
          guard (0x40...0x7E).contains(part) else { continue }
          if part == UInt8(ascii: "A") { keys.append(.up) }
          if part == UInt8(ascii: "B") { keys.append(.down) }
          break
        }
      default: continue
      }
    }
    return keys
  }
}

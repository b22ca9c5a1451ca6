import LocalServices
import Redis

/// Replies that a program trips over: numbers at the ends of their range, wrong kinds, arrays too short and too long.
enum HostileReply {
  private static let numbers = [
    "9223372036854775807", "-9223372036854775808", "18446744073709551615", "-1", "0",
    "99999999999999999999999", "4294967296", "1e308", "nan", "",
  ]

  private static func leaf(_ dice: inout SeededDice) -> RESPValue {
    switch dice.below(12) {
    case 0: .integer(.max)
    case 1: .integer(.min)
    case 2: .integer(-1)
    case 3: .integer(0)
    case 4: .null
    case 5: .array([])
    case 6: .array([.array([.integer(1)]), .string([0xff, 0xfe])])
    case 7: .string([0xff, 0x00, 0x0a, 0x09])
    case 8: .string(Array(repeating: UInt8(ascii: "x"), count: 3_000))
    case 9: .error(.server(code: "ERR", message: "no"))
    default: .string(Array((dice.pick(numbers) ?? "").utf8))
    }
  }

  /// The reply with one place changed.
  static func altered(_ reply: RESPValue, _ dice: inout SeededDice) -> RESPValue {
    switch reply {
    case .array(var elements) where !elements.isEmpty:
      switch dice.below(8) {
      case 0: elements.removeLast()
      case 1: elements.append(leaf(&dice))
      case 2: elements.append(contentsOf: elements)
      case 3: elements.swapAt(dice.below(elements.count), dice.below(elements.count))
      case 4 where dice.chance(percent: 20): return leaf(&dice)
      default:
        let index = dice.below(elements.count)
        elements[index] = altered(elements[index], &dice)
      }
      return .array(elements)
    case .string(let bytes):
      let changed = withNumberReplaced(bytes, &dice)
      return dice.chance(percent: 60) ? changed.map { .string($0) } ?? leaf(&dice) : leaf(&dice)
    default: return leaf(&dice)
    }
  }

  /// One of the numbers in a text is replaced: times, counts and generations stand in lines and JSON.
  private static func withNumberReplaced(_ bytes: [UInt8], _ dice: inout SeededDice) -> [UInt8]? {
    func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
    let starts = bytes.indices.filter {
      isDigit(bytes[$0]) && ($0 == 0 || !isDigit(bytes[$0 - 1]))
    }
    guard let start = dice.pick(starts) else { return nil }
    let end = bytes[start...].firstIndex { !isDigit($0) } ?? bytes.endIndex
    var changed = bytes
    changed.replaceSubrange(start..<end, with: Array((dice.pick(numbers) ?? "").utf8))
    return changed
  }

  static func encode(_ value: RESPValue, to bytes: inout [UInt8]) {
    switch value {
    case .string(let text):
      bytes += Array("$\(text.count)\r\n".utf8) + text + [0x0d, 0x0a]
    case .status(let text): bytes += Array("+\(text)\r\n".utf8)
    case .integer(let number): bytes += Array(":\(number)\r\n".utf8)
    case .null: bytes += Array("$-1\r\n".utf8)
    case .error(.server(let code, let message)): bytes += Array("-\(code) \(message)\r\n".utf8)
    case .error: bytes += Array("-ERR\r\n".utf8)
    case .array(let elements):
      bytes += Array("*\(elements.count)\r\n".utf8)
      for element in elements { encode(element, to: &bytes) }
    }
  }
}

/// Stands in a rendered message for what differs from push to push: a noncharacter, which no text of such a job holds
/// (Unicode 23.7), and behind it what it stands for.
package enum Mark: Sendable, Equatable {
  /// The value of the placeholder of this number.
  case value(Int)
  /// The installation's badge, or `atMost` if that is smaller.
  case badge(atMost: Int?)

  /// The largest `atMost`: more does not fit into a mark.
  package static let atMostMax = 999

  /// Returns the text in the message for an installation's badge.
  package static func badgeText(_ badge: Int, atMost: Int?) -> String {
    String(min(badge, atMost ?? badge))
  }

  /// Returns how many bytes the text of a badge can have: one may grow to ten digits until its push is sent.
  package static func badgeBytesMax(atMost: Int?) -> Int {
    badgeText(Limits.badgeMax, atMost: atMost).utf8.count
  }

  /// How much longer rendered bytes may become than they are, by badges that take the place of marks; below 0 for shorter.
  package static func badgeGrowth(of bytes: [UInt8]) -> Int {
    cut(bytes).parts.reduce(0) { growth, part in
      guard case .badge(let max) = part.mark else { return growth }
      return growth + badgeBytesMax(atMost: max) - bytesCount
    }
  }

  package var text: String {
    let number =
      switch self {
      case .value(let number): number
      case .badge(let max): Limits.placeholdersMax + (max ?? 0)
      }
    precondition(number <= Limits.placeholdersMax + Self.atMostMax, "no mark holds \(number)")
    return String(
      String.UnicodeScalarView([Self.noncharacter, Unicode.Scalar(UInt32(0xE000 + number))!]))
  }

  /// Reads the two last bytes of a mark, which hold six bits each.
  private init(_ high: UInt8, _ low: UInt8) {
    let number = Int(high & 0x3F) << 6 | Int(low & 0x3F)
    if number < Limits.placeholdersMax {
      self = .value(number)
    } else {
      let max = number - Limits.placeholdersMax
      self = .badge(atMost: max == 0 ? nil : max)
    }
  }

  private static let noncharacter = Unicode.Scalar(0xFDD0 as UInt32)!
  /// The UTF-8 of a mark without its last two bytes.
  private static let start: [UInt8] = [0xEF, 0xB7, 0x90, 0xEE]
  private static let bytesCount = 6

  /// Whether there is something in these bytes that no text may hold where marks are used.
  static func isIn(_ bytes: [UInt8]) -> Bool {
    let noncharacter = start.prefix(3)
    return bytes.indices.contains { bytes[$0...].starts(with: noncharacter) }
  }

  /// Cuts rendered bytes at the marks.
  /// - Returns: the bytes before each mark, and those after the last.
  package static func cut(
    _ bytes: [UInt8]
  ) -> (parts: [(before: ArraySlice<UInt8>, mark: Mark)], rest: ArraySlice<UInt8>) {
    var parts: [(before: ArraySlice<UInt8>, mark: Mark)] = []
    var first = 0
    var position = 0
    while position + bytesCount <= bytes.count {
      guard bytes[position] == start[0], bytes[position...].starts(with: start) else {
        position += 1
        continue
      }
      let end = position + bytesCount
      parts.append((bytes[first..<position], Mark(bytes[end - 2], bytes[end - 1])))
      first = end
      position = end
    }
    return (parts, bytes[first...])
  }
}

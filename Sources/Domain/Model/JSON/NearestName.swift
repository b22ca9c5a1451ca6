/// Finds what somebody meant to write.
package enum NearestName {
  /// The known name nearest to `name`, or nil when none is near enough to be a guess.
  package static func suggestion(for name: String, among known: [String]) -> String? {
    let written = Array(name.utf8.prefix(Limits.quotedTextBytesMax))
    var best: (name: String, distance: Int, rank: Int)?
    for candidate in known {
      let letters = Array(candidate.utf8)
      var distance = editDistance(fold(written), fold(letters))
      // "ttl" for "ttl_seconds": far by edits, near by sight.
      if written.count >= 3, letters.starts(with: written) { distance = min(distance, 1) }
      // Of two that are as near, the one of which letters were left out: "aps" for "apns" and not for "app".
      let rank = 2 * distance - (isLeftOver(fold(written), of: fold(letters)) ? 1 : 0)
      if rank < best?.rank ?? Int.max { best = (candidate, distance, rank) }
    }
    guard let best, best.distance <= max(1, min(3, written.count / 2)) else { return nil }
    return best.name
  }

  /// The end of the sentence that refuses an unknown field.
  package static func unknownField(_ name: String, among known: [String]) -> String {
    if let suggestion = suggestion(for: name, among: known) {
      return "is not a known field; did you mean \"\(suggestion)\"?"
    }
    return "is not a known field; known here: \(known.joined(separator: ", "))"
  }

  /// Whether `written` is what is left of `whole` without some of its letters.
  private static func isLeftOver(_ written: [UInt8], of whole: [UInt8]) -> Bool {
    var left = written[...]
    for letter in whole where left.first == letter { left.removeFirst() }
    return left.isEmpty
  }

  /// Case and separators are not what tells names apart: `collapseId` is near `collapse_id`.
  private static func fold(_ bytes: [UInt8]) -> [UInt8] {
    bytes.compactMap { byte in
      switch byte {
      case UInt8(ascii: "_"), UInt8(ascii: "-"): nil
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte | 0x20
      default: byte
      }
    }
  }

  /// Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment).
  static func editDistance(_ one: [UInt8], _ other: [UInt8]) -> Int {
    if one.isEmpty || other.isEmpty { return max(one.count, other.count) }
    var beforeLast = [Int](repeating: 0, count: other.count + 1)
    var last = Array(0...other.count)
    for i in 1...one.count {
      var row = [Int](repeating: i, count: other.count + 1)
      for j in 1...other.count {
        let cost = one[i - 1] == other[j - 1] ? 0 : 1
        row[j] = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + cost)
        if i > 1, j > 1, one[i - 1] == other[j - 2], one[i - 2] == other[j - 1] {
          row[j] = min(row[j], beforeLast[j - 2] + 1)
        }
      }
      beforeLast = last
      last = row
    }
    return last[other.count]
  }
}

internal import Model
internal import Store

extension Audience {
  /// The kind of lines in its segments.
  var chunkLines: ChunkLines {
    switch self {
    case .users, .usersKey, .topic, .channel, .all: .users
    case .installations: .installations
    }
  }

  /// The index that holds its users; nil when none does.
  var index: AudienceIndex? {
    switch self {
    case .topic(let topic): .topic(topic)
    case .channel(let channel): .channel(channel)
    case .all: .all
    case .users, .installations, .usersKey: nil
    }
  }

  /// The recipients in chunks of `Limits.chunkRecipientsMax`, a line each; none when they are in a key or an index, which
  /// the store reads as the job goes on.
  func segments() -> [[UInt8]] {
    switch self {
    case .users(let users):
      Self.cut(users) { SegmentLines.append(user: $0, to: &$1) }
    case .installations(let tokens):
      Self.cut(tokens) { InstallationLine.append($0, to: &$1) }
    case .usersKey, .topic, .channel, .all: []
    }
  }

  private static func cut<Element>(
    _ list: [Element], _ append: (Element, inout [UInt8]) -> Void
  ) -> [[UInt8]] {
    stride(from: 0, to: list.count, by: Limits.chunkRecipientsMax).map { first in
      var segment: [UInt8] = []
      for element in list[first..<min(first + Limits.chunkRecipientsMax, list.count)] {
        append(element, &segment)
      }
      return segment
    }
  }
}

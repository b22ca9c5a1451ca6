/// An event as the stream carries it (HTML Standard, 9.2 Server-sent events).
struct ServerSentEvent {
  /// Nothing to read: a line that proxies and the browser see.
  static let heartbeat = Array(":\n\n".utf8)

  /// Says after how long a browser opens a stream again that has ended.
  static func retry(ms: Int) -> [UInt8] { Array("retry: \(ms)\n\n".utf8) }

  /// - Parameters:
  ///   - name: a word.
  ///   - id: without a line break.
  ///   - data: JSON without a line break.
  static func bytes(name: String, id: String, data: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(data.count + name.utf8.count + id.utf8.count + 24)
    bytes += "event: \(name)\nid: \(id)\ndata: ".utf8
    bytes += data
    bytes += "\n\n".utf8
    return bytes
  }
}

/// The id of an event: which process's feed it is of, and its number there.
struct FeedEventID: Equatable {
  let epoch: String
  let number: Int

  init(epoch: String, number: Int) {
    self.epoch = epoch
    self.number = number
  }

  /// Nil for a text that no feed has written.
  init?(_ text: String) {
    guard text.utf8.count <= 64 else { return nil }
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty, let number = Int(parts[1]), number >= 0 else {
      return nil
    }
    self.init(epoch: String(parts[0]), number: number)
  }

  var text: String { "\(epoch)-\(number)" }
}

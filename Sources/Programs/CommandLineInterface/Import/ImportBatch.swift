internal import Model
internal import Store

/// Installations that go to Redis in one call.
struct ImportBatch: Sendable {
  /// A call must fit into the connection's output many times over.
  private static let bytesMax = 1024 * 1024

  private(set) var installations: [Installation] = []
  private var bytes = 0
  /// What the batch changes of channels takes time, too.
  private var channels = 0
  /// Where the input is behind the batch's last line.
  var position = ImportPosition()

  var isFull: Bool {
    installations.count >= StoreLimits.importBatchMax || bytes >= Self.bytesMax
      || channels >= StoreLimits.importChannelsMax
  }

  var isEmpty: Bool { installations.isEmpty }

  mutating func append(_ installation: Installation, bytes: Int) {
    installations.append(installation)
    self.bytes += bytes
    channels += installation.channels.count
  }
}

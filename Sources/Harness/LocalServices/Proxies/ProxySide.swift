import Reactor

/// One of the two connections of a ``ProxyPair``; loop-bound.
final class ProxySide: ByteStreamDelegate {
  /// Bytes that may wait to be written: two reads.
  static let outputBytesMax = 4 * ReactorLimits.readBufferBytes

  private(set) var stream: ByteStream!
  var onRead: ((UnsafeRawBufferPointer) -> Void)?
  var onRoom: (() -> Void)?
  var onClose: (() -> Void)?

  init(loop: EventLoop) {
    stream = ByteStream(loop: loop, delegate: self, outputBytesMax: Self.outputBytesMax)
  }

  func streamDidOpen(_ stream: ByteStream) { onRoom?() }

  func stream(_ stream: ByteStream, didRead bytes: UnsafeRawBufferPointer) { onRead?(bytes) }

  func streamFillsOutput(_ stream: ByteStream) { onRoom?() }

  func stream(_ stream: ByteStream, didCloseWith failure: StreamFailure?) {
    let onClose = onClose
    self.onClose = nil
    onRead = nil
    onRoom = nil
    onClose?()
  }
}

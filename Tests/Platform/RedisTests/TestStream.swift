import Reactor

/// A stream whose events are closures.
final class TestStream: ByteStreamDelegate {
  private(set) var stream: ByteStream!
  var onRead: (UnsafeRawBufferPointer) -> Void = { _ in }
  var onClose: () -> Void = {}
  private(set) var isClosed = false

  init(loop: EventLoop) { stream = ByteStream(loop: loop, delegate: self) }

  func write(_ bytes: [UInt8]) {
    _ = bytes.withUnsafeBytes { stream.write($0) }
    stream.requestFlush()
  }

  func streamDidOpen(_ stream: ByteStream) {}

  func stream(_ stream: ByteStream, didRead bytes: UnsafeRawBufferPointer) { onRead(bytes) }

  func streamFillsOutput(_ stream: ByteStream) {}

  func stream(_ stream: ByteStream, didCloseWith failure: StreamFailure?) {
    isClosed = true
    onClose()
  }
}

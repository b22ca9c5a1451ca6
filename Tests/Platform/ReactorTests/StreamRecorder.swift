import Reactor
import TestSupport

/// A delegate that counts what it is told and does what its closures say; loop-bound.
final class StreamRecorder: ByteStreamDelegate {
  let occurrences: Occurrences
  var opened = 0
  var endings: [StreamFailure?] = []
  var received: [UInt8] = []
  var outputWaitingMax = 0
  var onOpen: ((ByteStream) -> Void)?
  /// Takes the bytes instead of `received`.
  var onRead: ((ByteStream, UnsafeRawBufferPointer) -> Void)?
  var onFill: ((ByteStream) -> Void)?

  init(_ occurrences: Occurrences) {
    self.occurrences = occurrences
  }

  /// The only ending; nil unless there was exactly one and it was a failure.
  var failure: StreamFailure? { endings.count == 1 ? endings[0] : nil }

  func streamDidOpen(_ stream: ByteStream) {
    opened += 1
    onOpen?(stream)
    occurrences.note()
  }

  func stream(_ stream: ByteStream, didRead bytes: UnsafeRawBufferPointer) {
    if let onRead { onRead(stream, bytes) } else { received.append(contentsOf: bytes) }
    occurrences.note()
  }

  func streamFillsOutput(_ stream: ByteStream) {
    outputWaitingMax = max(outputWaitingMax, stream.outputWaiting)
    onFill?(stream)
  }

  func stream(_ stream: ByteStream, didCloseWith failure: StreamFailure?) {
    endings.append(failure)
    occurrences.note()
  }
}

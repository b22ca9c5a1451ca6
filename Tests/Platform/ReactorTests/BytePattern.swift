import Glibc
import Reactor

/// Bytes whose order shows, written as room comes and checked as they arrive.
final class BytePattern {
  let count: Int
  private var written = 0
  private(set) var checked = 0
  private(set) var isUnharmed = true

  /// A prime, so that blocks of no usual size begin alike.
  private static let period = 251
  private static let blockBytes = 9_973
  /// The pattern from any phase for the length of any block.
  private let table: [UInt8]

  init(count: Int) {
    self.count = count
    table = (0..<(Self.period + ReactorLimits.readBufferBytes)).map { UInt8($0 % Self.period) }
  }

  func fill(_ stream: ByteStream) {
    while written < count, stream.outputWaiting < ReactorLimits.outputLowWaterBytes {
      let start = written % Self.period
      let length = min(Self.blockBytes, count - written)
      let isTaken = table.withUnsafeBytes {
        stream.write(UnsafeRawBufferPointer(rebasing: $0[start..<(start + length)]))
      }
      guard isTaken else { return }
      written += length
    }
  }

  func check(_ stream: ByteStream, _ bytes: UnsafeRawBufferPointer) {
    let isSame = table.withUnsafeBytes {
      memcmp($0.baseAddress! + checked % Self.period, bytes.baseAddress!, bytes.count) == 0
    }
    if !isSame { isUnharmed = false }
    checked += bytes.count
  }
}

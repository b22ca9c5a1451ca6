/// Bytes waiting to be written: one block that grows up to its bound and is used again until it is released.
struct OutputBuffer: ~Copyable {
  private static let blockBytesMin = 4096

  private var block = UnsafeMutableRawBufferPointer(start: nil, count: 0)
  private var start = 0
  private var end = 0
  private let bytesMax: Int

  init(bytesMax: Int) { self.bytesMax = bytesMax }

  deinit { block.deallocate() }

  var count: Int { end - start }

  var room: Int { bytesMax - count }

  /// - Returns: false, with nothing appended, when the bound would be passed.
  mutating func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard bytes.count <= room else { return false }
    if bytes.count > block.count - end { makeRoom(for: bytes.count) }
    UnsafeMutableRawBufferPointer(rebasing: block[end..<(end + bytes.count)]).copyMemory(
      from: bytes)
    end += bytes.count
    return true
  }

  var pending: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: block[start..<end]) }

  mutating func consume(_ written: Int) {
    start += written
    if start == end {
      start = 0
      end = 0
    }
  }

  /// Gives the block back; nothing may be waiting.
  mutating func release() {
    guard count == 0 else { return }
    block.deallocate()
    block = UnsafeMutableRawBufferPointer(start: nil, count: 0)
  }

  private mutating func makeRoom(for extra: Int) {
    let needed = count + extra
    var target = block
    if needed > block.count {
      let grown = min(bytesMax, max(needed, block.count * 2, Self.blockBytesMin))
      target = .allocate(byteCount: grown, alignment: 16)
    }
    let kept = count
    memmoveBytes(from: pending, to: target)
    if target.baseAddress != block.baseAddress {
      block.deallocate()
      block = target
    }
    start = 0
    end = kept
  }

  private func memmoveBytes(
    from source: UnsafeRawBufferPointer, to target: UnsafeMutableRawBufferPointer
  ) {
    guard let from = source.baseAddress, let to = target.baseAddress else { return }
    to.copyMemory(from: from, byteCount: source.count)
  }
}

/// Bytes that stay where they are until the arena goes: device tokens and user ids of a chunk, which
/// requests in flight point into.
final class ByteArena {
  /// Each block is twice the one before it: a job for one user needs little.
  private static let firstBlockBytes = 512
  private static let blockBytesMax = 16 * 1024
  private var blocks: [UnsafeMutableRawBufferPointer] = []
  private var used = 0

  deinit { for block in blocks { block.deallocate() } }

  func copy(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    guard !bytes.isEmpty else { return UnsafeRawBufferPointer(start: nil, count: 0) }
    if blocks.isEmpty || blocks[blocks.count - 1].count - used < bytes.count {
      let usual = blocks.last.map { min(2 * $0.count, Self.blockBytesMax) } ?? Self.firstBlockBytes
      blocks.append(.allocate(byteCount: max(usual, bytes.count), alignment: 1))
      used = 0
    }
    let target = UnsafeMutableRawBufferPointer(
      rebasing: blocks[blocks.count - 1][used..<(used + bytes.count)])
    target.copyMemory(from: bytes)
    used += bytes.count
    return UnsafeRawBufferPointer(target)
  }

  func copy(_ text: String) -> UnsafeRawBufferPointer {
    var text = text
    return text.withUTF8 { copy(UnsafeRawBufferPointer($0)) }
  }
}

/// Bytes that stay where they are until the arena goes: device tokens and user ids of a chunk, which
/// requests in flight point into.
final class ByteArena {
  private static let blockBytes = 16 * 1024
  private var blocks: [UnsafeMutableRawBufferPointer] = []
  private var used = 0

  deinit { for block in blocks { block.deallocate() } }

  func copy(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    guard !bytes.isEmpty else { return UnsafeRawBufferPointer(start: nil, count: 0) }
    if blocks.isEmpty || blocks[blocks.count - 1].count - used < bytes.count {
      blocks.append(
        .allocate(byteCount: max(Self.blockBytes, bytes.count), alignment: 1))
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

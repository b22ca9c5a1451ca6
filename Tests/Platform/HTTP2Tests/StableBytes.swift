/// Bytes that stay where they are for as long as this object lives.
final class StableBytes {
  private let storage: UnsafeMutableRawBufferPointer

  init(_ bytes: [UInt8]) {
    storage = .allocate(byteCount: max(1, bytes.count), alignment: 1)
    storage.copyBytes(from: bytes)
    raw = UnsafeRawBufferPointer(rebasing: storage[..<bytes.count])
  }

  deinit { storage.deallocate() }

  let raw: UnsafeRawBufferPointer
}

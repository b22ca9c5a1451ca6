/// A place that bytes are written to, one behind the other.
protocol ByteSink: ~Copyable {
  mutating func put(_ byte: UInt8)
  mutating func put(_ bytes: UnsafeRawBufferPointer)
}

extension [UInt8]: ByteSink {
  mutating func put(_ byte: UInt8) { append(byte) }
  mutating func put(_ bytes: UnsafeRawBufferPointer) { append(contentsOf: bytes) }
}

/// Bytes that are many small pieces put together: an array looks with each piece whether others have it, too.
struct ByteOutput: ~Copyable, ByteSink {
  private var memory: UnsafeMutableRawBufferPointer
  private(set) var count = 0

  /// - Parameter capacity: bytes that are written without growing, 1 at least.
  init(capacity: Int) { memory = .allocate(byteCount: capacity, alignment: 1) }

  deinit { memory.deallocate() }

  mutating func put(_ byte: UInt8) {
    if count == memory.count { grow(by: 1) }
    memory[count] = byte
    count += 1
  }

  mutating func put(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress, let target = memory.baseAddress else { return }
    if memory.count - count < bytes.count {
      grow(by: bytes.count)
      return put(bytes)
    }
    (target + count).copyMemory(from: source, byteCount: bytes.count)
    count += bytes.count
  }

  private mutating func grow(by bytes: Int) {
    let larger = UnsafeMutableRawBufferPointer.allocate(
      byteCount: max(memory.count * 2, count + bytes), alignment: 1)
    larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[..<count]))
    memory.deallocate()
    memory = larger
  }

  /// Calls the body with what was written; borrowed.
  func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    body(UnsafeRawBufferPointer(rebasing: memory[..<count]))
  }
}

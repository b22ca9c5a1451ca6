/// Which lines of a segment are done, in the bit order of Redis' SETBIT: line 0 is the highest bit of byte 0.
package struct DoneBitmap: Sendable, Equatable {
  package private(set) var bytes: [UInt8]

  package init(bytes: [UInt8] = []) { self.bytes = bytes }

  package mutating func insert(_ line: Int) {
    let index = line >> 3
    if index >= bytes.count {
      bytes.append(contentsOf: repeatElement(0, count: index + 1 - bytes.count))
    }
    bytes[index] |= 0x80 >> UInt8(line & 7)
  }

  package func contains(_ line: Int) -> Bool {
    let index = line >> 3
    return index < bytes.count && bytes[index] & (0x80 >> UInt8(line & 7)) != 0
  }

  package var count: Int { bytes.reduce(0) { $0 + $1.nonzeroBitCount } }
}

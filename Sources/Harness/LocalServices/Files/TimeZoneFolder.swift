import Glibc

/// Time zones that are made up, in a folder for a process's `TZDIR`: so that it is nine o'clock somewhere every second.
package struct TimeZoneFolder: Sendable {
  package struct Zone: Sendable {
    package let name: String
    /// When its clocks show nine for the first time, or as much later as they skip that; epoch milliseconds.
    package let nineMs: Int64
  }

  package let path: String

  private static let nine = 9 * 3_600
  private static let west = -12 * 3_600
  private static let step = 3_600
  /// From the change of a clock to nine where it skips nine, and from nine to the change where it shows nine twice.
  private static let skipSeconds: Int64 = 2
  private static let repeatSeconds: Int64 = 5

  /// Makes the folder, with nothing in it but UTC.
  package init(path: String) throws(LocalServiceError) {
    self.path = path
    guard mkdir(path, 0o755) == 0 else { throw .system("cannot make the folder \(path)") }
    try write(Self.utc, Self.bytes(offset: 0, change: nil))
  }

  private static let utc = "UTC"

  /// The last one is called UTC, which every system has: then it is nine everywhere within the time that is asked for.
  package static func name(_ number: Int, of count: Int) -> String {
    number == count - 1 ? utc : "Made/Zone\(number)"
  }

  /// Makes zones where nine comes one after the other. Of each five one skips it and one has it twice.
  package func make(
    _ count: Int, firstMs: Int64, everyMs: Int64
  ) throws(LocalServiceError) -> [Zone] {
    _ = mkdir("\(path)/Made", 0o755)
    var zones: [Zone] = []
    for number in 0..<count {
      let name = Self.name(number, of: count)
      let at = firstMs / 1_000 + Int64(number) * everyMs / 1_000
      var offset = Self.nine - Int(at % 86_400)
      if offset < Self.west { offset += 86_400 }
      let change: (at: Int64, offset: Int)? =
        switch number % 5 {
        case 3: (at - Self.skipSeconds, offset + Self.step)
        case 4: (at + Self.repeatSeconds, offset - Self.step)
        default: nil
        }
      try write(name, Self.bytes(offset: offset, change: change))
      zones.append(Zone(name: name, nineMs: at * 1_000))
    }
    return zones
  }

  /// A file of tzdata (RFC 9636): a block for old readers, and the one that counts.
  private static func bytes(offset: Int, change: (at: Int64, offset: Int)?) -> [UInt8] {
    func word<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
      withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }
    func header(changes: Int32, types: Int32) -> [UInt8] {
      Array("TZif2".utf8) + [UInt8](repeating: 0, count: 15)
        + [0, 0, 0, changes, types, 4].flatMap { word($0) }
    }
    func type(_ offset: Int) -> [UInt8] { word(Int32(truncatingIfNeeded: offset)) + [0, 0] }
    let letters = Array("AAA\0".utf8)
    var file = header(changes: 0, types: 1) + type(offset) + letters
    if let change {
      file += header(changes: 1, types: 2) + word(change.at) + [1]
      file += type(offset) + type(change.offset)
    } else {
      file += header(changes: 0, types: 1) + type(offset)
    }
    return file + letters + Array("\n\n".utf8)
  }

  private func write(_ name: String, _ bytes: [UInt8]) throws(LocalServiceError) {
    let file = "\(path)/\(name)"
    guard let handle = fopen(file, "we") else { throw .system("cannot write \(file)") }
    let written = fwrite(bytes, 1, bytes.count, handle)
    guard fclose(handle) == 0, written == bytes.count else {
      throw LocalServiceError("cannot write all of \(file)")
    }
  }
}

package import CNGHTTP2
internal import Glibc

/// Header fields laid out once for nghttp2 and sent many times: names and values stay where they are,
/// so that submitting copies nothing but what differs.
package final class HeaderList {
  package let fields: UnsafeMutableBufferPointer<nghttp2_nv>
  private let storage: UnsafeMutableBufferPointer<UInt8>

  /// - Parameter fields: name (lowercase), value, and whether HPACK may index it; what differs in
  ///   each message should not push the constant ones out of the table (RFC 7541, 6.2.2).
  package init(_ list: [(name: String, value: [UInt8], isIndexed: Bool)]) {
    let bytes = list.reduce(0) { $0 + $1.name.utf8.count + $1.value.count }
    storage = .allocate(capacity: max(1, bytes))
    fields = .allocate(capacity: list.count)
    var offset = 0
    for (index, field) in list.enumerated() {
      let name = Self.place(Array(field.name.utf8), in: storage, at: &offset)
      let value = Self.place(field.value, in: storage, at: &offset)
      var flags = NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue | NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue
      if !field.isIndexed { flags |= NGHTTP2_NV_FLAG_NO_INDEX.rawValue }
      fields.initializeElement(
        at: index,
        to: nghttp2_nv(
          name: name, value: value, namelen: field.name.utf8.count, valuelen: field.value.count,
          flags: UInt8(flags)))
    }
  }

  deinit {
    fields.deallocate()
    storage.deallocate()
  }

  private static func place(
    _ bytes: [UInt8], in storage: UnsafeMutableBufferPointer<UInt8>, at offset: inout Int
  ) -> UnsafeMutablePointer<UInt8> {
    let target = storage.baseAddress! + offset
    for (index, byte) in bytes.enumerated() { target[index] = byte }
    offset += bytes.count
    return target
  }
}

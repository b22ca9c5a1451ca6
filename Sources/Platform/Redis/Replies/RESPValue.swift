/// An owned copy of a reply, for where an allocation does not matter.
package enum RESPValue: Sendable, Equatable {
  case string([UInt8])
  case status(String)
  case integer(Int)
  case array([RESPValue])
  case error(RedisError)
  case null

  package init(_ reply: RedisReply) {
    switch reply.kind {
    case .string: self = .string(Array(reply.bytes))
    case .status: self = .status(reply.string)
    case .integer: self = .integer(reply.integer!)
    case .array: self = .array((0..<reply.count).map { RESPValue(reply[$0]) })
    case .error: self = .error(reply.failure)
    case .null: self = .null
    }
  }

  package var bytes: [UInt8]? {
    switch self {
    case .string(let bytes): bytes
    case .status(let text): Array(text.utf8)
    default: nil
    }
  }

  package var string: String? { bytes.map { String(decoding: $0, as: UTF8.self) } }

  package var integer: Int? {
    if case .integer(let value) = self { return value }
    return string.flatMap { Int($0) }
  }

  package var array: [RESPValue]? {
    if case .array(let elements) = self { return elements }
    return nil
  }

  package var isNull: Bool { self == .null }

  /// The (name, value) pairs of a reply to HGETALL, or of a stream entry's fields.
  package var pairs: [(String, String)] {
    let flat = array ?? []
    return stride(from: 0, to: flat.count - 1, by: 2).map {
      (flat[$0].string ?? "", flat[$0 + 1].string ?? "")
    }
  }
}

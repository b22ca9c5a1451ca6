internal import CHiredis

/// A reply as hiredis read it; a borrowed view, valid only during the callback that gets it. Of one that is cut short, the
/// elements that did not come are null.
package struct RedisReply {
  package enum Kind: Sendable {
    case string, array, integer, null, status, error
  }

  private let raw: UnsafeMutablePointer<redisReply>?

  init(_ raw: UnsafeMutablePointer<redisReply>?) { self.raw = raw }

  package var kind: Kind {
    switch raw?.pointee.type {
    case REDIS_REPLY_STRING: .string
    case REDIS_REPLY_ARRAY: .array
    case REDIS_REPLY_INTEGER: .integer
    case REDIS_REPLY_STATUS: .status
    case REDIS_REPLY_ERROR: .error
    default: .null
    }
  }

  package var isNull: Bool { kind == .null }

  /// The number of an integer reply, or of a string that is a decimal number.
  package var integer: Int? {
    switch kind {
    case .integer: raw.map { Int($0.pointee.integer) }
    case .string, .status: Int(string)
    case .array, .null, .error: nil
    }
  }

  /// The bytes of a string, status or error; empty for every other kind.
  package var bytes: UnsafeRawBufferPointer {
    switch kind {
    case .string, .status, .error:
      UnsafeRawBufferPointer(start: raw?.pointee.str, count: raw?.pointee.len ?? 0)
    case .array, .integer, .null: UnsafeRawBufferPointer(start: nil, count: 0)
    }
  }

  /// The text of `bytes`; invalid UTF-8 is repaired.
  package var string: String { String(decoding: bytes, as: UTF8.self) }

  /// The number of elements of an array; 0 for every other kind.
  package var count: Int { kind == .array ? raw?.pointee.elements ?? 0 : 0 }

  package subscript(index: Int) -> RedisReply {
    precondition(index < count, "no such element in the reply")
    return RedisReply(raw?.pointee.element[index])
  }

  /// The error that an error reply stands for.
  package var failure: RedisError { .server(reply: string) }
}

internal import Model

/// The `timestamp` of an answer of APNs's: when it last confirmed that the token is dead.
enum APNsTimestamp: Equatable {
  case missing
  /// Epoch milliseconds, within what `Limits.instantMsMax` allows.
  case ms(Int64)
  /// One is there, and no instant can be read from it.
  case unreadable

  init(_ answer: JSONObject?) {
    guard let value = answer?["timestamp"] else {
      self = .missing
      return
    }
    let ms: Int64? =
      switch value {
      case .number(let number): number.int64 ?? Self.roundedDown(number)
      case .string(let text): Self.digits(text)
      default: nil
      }
    guard let ms, (0...Limits.instantMsMax).contains(ms) else {
      self = .unreadable
      return
    }
    self = .ms(ms)
  }

  /// The consequence of a 410. The device may have been installed after an instant that cannot be read, so its token
  /// is kept.
  func verdict(reason: String) -> Classification {
    switch self {
    case .missing: .invalidToken(reason: reason, sinceMs: nil)
    case .ms(let ms): .invalidToken(reason: reason, sinceMs: ms)
    case .unreadable: .rejected(reason: "\(reason) with status 410 and an unreadable timestamp")
    }
  }

  /// A relay may print a fraction or an exponent: Lua writes 1.454402113e+12. An earlier instant removes less.
  private static func roundedDown(_ number: JSONNumber) -> Int64? {
    guard let value = number.double, (0...Double(Limits.instantMsMax)).contains(value) else {
      return nil
    }
    return Int64(value)
  }

  private static func digits(_ text: String) -> Int64? {
    guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
      return nil
    }
    return Int64(text)
  }
}

internal import Model

/// The remark of the one who switched something off.
package struct SwitchRemark: Sendable, Equatable {
  /// Epoch milliseconds; nil when it was not said.
  package var sinceMs: Int64?
  package var reason: String

  /// From a value of the HASH: `{"since": ms, "reason": text}`, or any other text as the reason.
  package init(_ value: [UInt8]) {
    let object = try? JSONParser().parse(value).objectValue
    guard let object else {
      reason = String(decoding: value.prefix(StoreLimits.switchReasonBytesMax), as: UTF8.self)
      return
    }
    sinceMs = object["since"]?.int64Value.map { StoredNumber.instantMs($0) }
    reason = object["reason"]?.stringValue ?? ""
  }
}

/// What the store did about a token that its network called invalid.
package enum TokenVerdict: UInt8, Sendable {
  /// It was uninstalled.
  case removed = 0x72  // r
  /// Its binding had changed.
  case kept = 0x6b  // k
  /// A mass death is suspected.
  case spared = 0x73  // s
}

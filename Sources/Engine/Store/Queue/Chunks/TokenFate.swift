/// The fate in the store of a token that its network called invalid.
package enum TokenFate: UInt8, Sendable {
  /// The token was uninstalled.
  case removed = 0x72  // r
  /// Its binding had changed.
  case kept = 0x6b  // k
  /// The token was kept because a mass death is assumed.
  case spared = 0x73  // s
}

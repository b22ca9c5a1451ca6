/// What pushes of one job say beside their device tokens; those that say the same may leave in one request.
struct Wording: Equatable {
  /// `Push.variant`.
  var variant: UInt8 = 0
  /// `Push.badge`.
  var badge: Int32 = 0
}

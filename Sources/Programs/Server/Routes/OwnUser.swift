internal import Model

/// The one user whom a device may act for: its own.
enum OwnUser {
  /// The user whom alone the caller may act for; nil for a caller who may act for all of the app.
  static func only(_ caller: Caller) throws(Problem) -> String? {
    guard caller.role == .device else { return nil }
    guard let user = caller.user else {
      throw Problem(403, "forbidden", "the token of this device names no user (sub)")
    }
    return user
  }

  /// - Throws: 403 when the user is not the one whom alone the caller may act for.
  static func check(_ user: String, _ caller: Caller) throws(Problem) {
    guard let own = try only(caller) else { return }
    guard TextRule.isSame(user, own) else { throw otherUser }
  }

  static let otherUser = Problem(
    403, "forbidden", "a device acts for its own user only: the one that its token names (sub)")
}

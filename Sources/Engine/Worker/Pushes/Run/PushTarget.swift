/// Where a push goes: to one of its lane's destinations, or why to none. Each push keeps one, so it is no larger than a
/// number.
struct PushTarget: Equatable {
  private let raw: Int32

  private init(raw: Int32) { self.raw = raw }

  /// To the destination with this number, which is its entry's in the directory.
  init(to number: Int) { self.init(raw: Int32(number)) }

  /// The app has no credentials there.
  static var noCredentials: PushTarget { PushTarget(raw: -1) }
  /// The job is for another environment, or another kind of token.
  static var unwanted: PushTarget { PushTarget(raw: -2) }

  /// The destination's number; nil when the push goes to none.
  var number: Int? { raw < 0 ? nil : Int(raw) }
}

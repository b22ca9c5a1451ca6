import LocalServices

/// A good configuration of row 30, as far as it changes. Workers tell a digest of their own for each.
struct ConfigurationContent: Hashable, Sendable {
  /// The app that is added and removed; the key and the rate are the first app's.
  static let comingApp = "news"
  /// The app whose service account is replaced. It has FCM alone.
  static let accountApp = "post"
  /// Members of an app, and none.
  static let rates: [String?] = [nil, "pushes_per_second: 20000", "events_per_minute: 1200"]

  var hasComingApp = false
  var hasSecondKey = false
  var hasSecondAccount = false
  var rate: String?

  /// The place of the first app's key, whichever it is.
  static func keyFile(_ shared: SharedConfiguration) -> String { shared.neighbour("shop.p8") }

  /// The place of that app's account, whichever it is.
  static func accountFile(_ shared: SharedConfiguration) -> String {
    shared.neighbour("\(accountApp).json")
  }

  func configuration(_ shared: SharedConfiguration) -> ConfigurationText {
    var text = shared.text
    if !hasComingApp { text.apps.removeAll { $0.id == Self.comingApp } }
    for index in text.apps.indices where text.apps[index].id == ChaosStage.app {
      text.apps[index].apnsKeyFile = Self.keyFile(shared)
      text.apps[index].members = rate.map { [$0] } ?? []
    }
    for index in text.apps.indices where text.apps[index].id == Self.accountApp {
      text.apps[index].serviceAccountFile = Self.accountFile(shared)
    }
    return text
  }

  func text(_ shared: SharedConfiguration) -> String {
    configuration(shared).text(shared.keys)
  }

  /// How many times an app needs other connections, at most, for this content in place of another.
  func renewals(after former: ConfigurationContent) -> Int {
    [
      hasComingApp && !former.hasComingApp, hasSecondKey != former.hasSecondKey,
      hasSecondAccount != former.hasSecondAccount, rate != former.rate,
    ].count { $0 }
  }
}

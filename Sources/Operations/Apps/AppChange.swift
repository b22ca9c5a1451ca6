package import Store
internal import Typesetting

/// The change of an app that somebody has made since another one looked at it.
package enum AppChange: Sendable, Equatable {
  case removed
  /// The app has another revision, or a record that cannot be read: nil. What was removed and added again has one, too.
  case replaced(AppRecord?)
  /// The app was changed or removed while it was put.
  case meanwhile

  /// The sentence that says what has happened, and what can be done.
  /// - Parameters:
  ///   - look: how the app is looked at again.
  ///   - condition: where it was said which revision the app should have.
  package func sentence(
    about id: String, look: String, condition: String = "revision"
  ) -> String {
    let anew = "leave \(condition) out and give every secret"
    return self == .removed
      ? "\(news(of: id)); to add it again, \(anew)"
      : "\(news(of: id)); \(look), and make the change anew, or \(anew) to put it as it is"
  }

  private func news(of id: String) -> String {
    switch self {
    case .removed: "there is no app \(id) any more: somebody has removed it since it was shown"
    case .replaced(let record?):
      "\(id) is not what was shown any more: \(record.changedBy) has changed it, or removed it and added it again, at "
        + InstantText.rfc3339(ms: record.changedAtMs)
    case .replaced(nil): "\(id) has a record now that cannot be read"
    case .meanwhile: "somebody has changed or removed \(id) at the same time"
    }
  }
}

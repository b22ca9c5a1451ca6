package import Model
package import Store
internal import Typesetting

extension KillSwitch {
  /// The words by which a sentence calls it.
  package var words: String {
    switch self {
    case .app(let app): "app \(app)"
    case .network(let app, let network): "\(network.rawValue) of app \(app)"
    case .user(let app, let user): "user \(DisplayText.printable(user)) of app \(app)"
    case .bucket(let app, let bucket): "bucket \(DisplayText.printable(bucket)) of app \(app)"
    case .topic(let app, let topic): "topic \(DisplayText.printable(topic)) of app \(app)"
    }
  }

  /// Since when and why, where that is known, to follow a sentence.
  package func since(_ remark: SwitchRemark) -> String {
    var text = remark.sinceMs.map {
      " since \(InstantText.rfc3339(ms: $0, withMilliseconds: false))"
    }
    if !remark.reason.isEmpty {
      text = (text ?? "") + ": \(DisplayText.printable(remark.reason))"
    }
    return text ?? ""
  }

  /// Returns the switch with its app, what it is for, since when and why.
  package func json(_ remark: SwitchRemark) -> JSONObject {
    var object: JSONObject = ["switch": .string(field), "app": .string(app)]
    switch self {
    case .app: break
    case .network(_, let network): object["network"] = .string(network.rawValue)
    case .user(_, let user): object["user"] = .string(user)
    case .bucket(_, let bucket): object["bucket"] = .string(bucket)
    case .topic(_, let topic): object["topic"] = .string(topic)
    }
    if let sinceMs = remark.sinceMs { object["since"] = .integer(sinceMs) }
    if !remark.reason.isEmpty { object["reason"] = .string(remark.reason) }
    return object
  }
}

import LocalServices

/// A change of the configuration that an operator makes in one step.
enum Rewriting: String, CaseIterable, Sendable {
  case app = "an app added or removed"
  case key = "a signing key replaced under its key id"
  case account = "a service account replaced by another of its project"
  case rate = "a rate of an app changed"
  case tenant = "an app in Redis added or removed"
  case brokenSyntax = "a file that is no YAML"
  case unknownField = "an unknown field"
  case missingKeyFile = "an app whose key file is missing"
  case mending = "the good file again"

  /// Whether workers have to refuse it.
  var isBroken: Bool { self == .brokenSyntax || self == .unknownField || self == .missingKeyFile }

  /// Returns the good content that it makes of another. An app in Redis is in no file.
  func content(after former: ConfigurationContent, _ dice: inout SeededDice) -> ConfigurationContent
  {
    var next = former
    switch self {
    case .app: next.hasComingApp.toggle()
    case .key: next.hasSecondKey.toggle()
    case .account: next.hasSecondAccount.toggle()
    case .rate:
      let others = ConfigurationContent.rates.filter { $0 != former.rate }
      next.rate = others[dice.below(others.count)]
    case .tenant, .brokenSyntax, .unknownField, .missingKeyFile, .mending: break
    }
    return next
  }

  /// Returns the text of the file with a good content, or with that and an error.
  func text(_ content: ConfigurationContent, _ shared: SharedConfiguration) -> String {
    var broken = content.configuration(shared)
    switch self {
    case .app, .key, .account, .rate, .tenant, .mending: break
    case .brokenSyntax: return "{" + broken.text(shared.keys)
    case .unknownField: broken.apps[0].members.append("push_per_second: 100")
    case .missingKeyFile:
      var app = broken.apps[0]
      app.id = "lost"
      app.apnsKeyFile = shared.neighbour("lost.p8")
      broken.apps.append(app)
    }
    return broken.text(shared.keys)
  }
}

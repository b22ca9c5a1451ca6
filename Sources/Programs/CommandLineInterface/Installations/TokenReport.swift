internal import Model
internal import Operations
internal import Typesetting

/// The standing of a device token, for a person.
struct TokenReport {
  let standing: TokenStanding

  func lines() -> [String] {
    let name = "\(standing.token.network.rawValue) token \(standing.token.text)"
    var lines: [String] = []
    if let installation = standing.installation {
      lines.append(
        "\(name): of user \(DisplayText.printable(installation.user))\(Self.time(" since", standing.sinceMs))"
      )
      lines.append(
        "  \(installation.kind.rawValue), \(installation.environment.rawValue)"
          + Self.time(", installed last at", installation.updatedAtMs))
    } else {
      lines.append("\(name): nobody's")
    }
    if let departure = standing.departure { lines.append("  last: \(departure.sentence)") }
    return lines
  }

  private static func time(_ word: String, _ ms: Int64?) -> String {
    ms.map { "\(word) \(InstantText.local(ms: $0))" } ?? ""
  }
}

extension Departure {
  /// Says what became of the token, and when.
  var sentence: String {
    let by = DisplayText.printable(by)
    let user = DisplayText.printable(user)
    let network = token.network.rawValue
    let at = "at \(InstantText.local(ms: atMs))"
    switch cause {
    case .network:
      let about = job.isEmpty ? "" : " to a push of the job \(DisplayText.printable(job))"
      return "\(network) called it dead \(at) (\(by))\(about); it was \(user)'s"
    case .explicit: return "it was uninstalled \(at); it was \(user)'s"
    case .overwritten: return "\(by) installed it \(at); before it was \(user)'s"
    case .evicted:
      return "it made room \(at) for another device of \(user), who had as many as one may have"
    case .environment: return "\(network) accepted it \(at) in \(by), where it is installed since"
    }
  }
}

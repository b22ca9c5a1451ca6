internal import Model
internal import Store

/// Whose events a trace is read for.
enum TraceSubject: Sendable {
  case everybody
  case user(String)
  /// As it is stored, once for each network that could have it.
  case token([DeviceToken])

  /// Checks what was typed; both nil for everybody.
  init(token: String?, user: String?) throws(CommandFailure) {
    if let user {
      do throws(InvalidField) { try TextRule.checkUser(user) } catch {
        throw CommandFailure(.badInput, "--user \(error.message)")
      }
      self = .user(user)
    } else if let token {
      self = .token(try Self.tokens(token))
    } else {
      self = .everybody
    }
  }

  private static func tokens(_ text: String) throws(CommandFailure) -> [DeviceToken] {
    var tokens: [DeviceToken] = []
    var refusal: InvalidField?
    for network in Network.allCases {
      do throws(InvalidField) {
        tokens.append(try DeviceToken(text, network: network))
      } catch {
        refusal = refusal ?? error
      }
    }
    if tokens.isEmpty, let refusal {
      throw CommandFailure(.badInput, "--token is no network's: for one, \(refusal.message)")
    }
    return tokens
  }

  func matches(_ event: TraceEvent) -> Bool {
    switch self {
    case .everybody: true
    case .user(let user): TextRule.isSame(event.user, user)
    case .token(let tokens):
      tokens.contains { $0.network == event.network && TextRule.isSame($0.text, event.token) }
    }
  }
}

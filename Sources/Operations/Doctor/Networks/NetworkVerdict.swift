internal import Model
internal import Providers

/// The meaning of what came of a request to a push network. A value without input or output.
struct NetworkVerdict {
  let subject: String
  let provider: any PushProvider

  private var name: String { provider.network.traits.displayName }

  /// A credential that cannot be had is an error where it is the account's; a provider token that nobody lends is none.
  func ofMissingCredential(_ reason: String) -> DoctorFinding {
    guard provider.network == .apns else {
      return DoctorFinding(.error, subject, reason, partedBy: "; ")
    }
    return DoctorFinding(
      .note, subject, "whether APNs takes the key was not asked: \(reason)")
  }

  func finding(_ outcome: NetworkProbe.Outcome) -> DoctorFinding {
    switch outcome {
    case .connected: DoctorFinding(.good, subject, "\(name) can be reached")
    case .accepted: accepted
    case .failed(let stage, let reason):
      DoctorFinding(
        .error, subject, "\(name) cannot be reached, for \(stage.rawValue) failed: \(reason)",
        remedy: remedy(for: stage))
    case .answered(let status, let contentType, let body, let isBodyCut, let isPartial):
      body.withUnsafeBytes { body in
        contentType.withUnsafeBytes { contentType in
          finding(
            ProviderAnswer(
              status: status, retryAfterSeconds: nil, body: body, isBodyCut: isBodyCut,
              isDryRun: true, isPartial: isPartial, contentType: contentType))
        }
      }
    }
  }

  private func finding(_ answer: ProviderAnswer) -> DoctorFinding {
    let classification = provider.classify(answer)
    switch classification {
    case .accepted: return accepted
    case .invalidToken(let reason, _), .doubtfulToken(let reason):
      return taken("it answered \(reason) to a token that is none")
    case .rejected(let reason):
      if provider.sign(of: classification, status: answer.status) == .setup {
        return DoctorFinding(
          .error, subject, "\(name) refuses the app as it is set up: \(reason)",
          remedy: provider.remedy(for: reason))
      }
      if provider.blamesAbsentToken(reason) {
        return taken("it answered \(reason) to a token that is none")
      }
      if provider.mayRefuseChecks {
        return DoctorFinding(
          .note, subject, "\(name) can be reached, and does not check the request: \(reason)")
      }
      return DoctorFinding(
        .warning, subject, "\(name) refuses the request: \(reason)",
        remedy: provider.remedy(for: reason))
    case .retry(_, let reason):
      return DoctorFinding(
        .warning, subject, "\(name) is in trouble, or has had enough: \(reason)",
        remedy: "ask again in some minutes; workers try again by themselves")
    case .foreign(let reason):
      return DoctorFinding(.error, subject, reason, partedBy: ": ")
    case .authRefused(let reason):
      return DoctorFinding(
        .error, subject, "\(name) refuses the credential: \(reason)",
        remedy: provider.remedy(forRefusedCredential: reason))
    }
  }

  private var accepted: DoctorFinding { taken("it accepted the request") }

  private func taken(_ how: String) -> DoctorFinding {
    DoctorFinding(.good, subject, "\(name) takes the credential: \(how)")
  }

  private func remedy(for stage: NetworkProbe.Stage) -> String {
    let (place, proxy) = (provider.destination.authority, provider.destination.proxy)
    return switch stage {
    case .name where proxy != nil:
      "check this machine's name server, and the names of the proxy and of an endpoint in the "
        + "configuration"
    case .name:
      "check this machine's name server, and the endpoint in the configuration if there is one"
    case .connection where proxy != nil:
      "let this machine reach the proxy: look at its address in the configuration, at firewalls "
        + "and routes"
    case .connection:
      "let this machine reach \(place): look at firewalls and routes, or name a proxy in the "
        + "configuration"
    case .proxy: "check the proxy in the configuration: address, login and what it lets through"
    case .tls:
      "if something on the way opens TLS, name its authority as ca_file; else look at the "
        + "certificates and at this machine's clock"
    case .http: "check the endpoint in the configuration, and what stands before it"
    }
  }
}

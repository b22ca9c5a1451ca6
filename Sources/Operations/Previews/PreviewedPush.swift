package import Model
internal import Providers
internal import Typesetting

/// The push that one device would get of a job.
package struct PreviewedPush: Sendable, Equatable {
  package enum Result: Sendable, Equatable {
    case request(PreviewedRequest)
    case nothing(Cause)
  }

  /// Why nothing is sent to it.
  package enum Cause: Sendable, Equatable {
    /// The job's `environments` leave its environment out.
    case environmentExcluded
    /// The job is for tokens of this kind.
    case otherKind(TokenKind)
    /// The job's filter leaves the installation out.
    case filtered
    /// The configuration has none for its network and environment; a worker with another one may have.
    case noCredentials
    case expired
    case notForNetwork
    /// The job asks for a dry run, and its network has none.
    case noDryRun
    /// The push's network would refuse the request.
    case refused(InvalidField)
    /// The user has no value for the placeholder of this name, which has no default.
    case missingVariable(String)
    /// The values are unreadable, as in `ReceiverValues`.
    case unreadableVariables, noVariablesHash
    /// With the user's values it is longer than its network allows.
    case payloadTooLarge(PayloadSize)

    /// For programs.
    package var code: String {
      switch self {
      case .environmentExcluded: "environment_excluded"
      case .otherKind: "other_kind"
      case .filtered: TraceCause.filtered.rawValue
      case .noCredentials: "no_credentials"
      case .expired: "expired"
      case .notForNetwork: "not_for_network"
      case .noDryRun: "no_dry_run"
      case .refused: "refused"
      case .missingVariable: TraceCause.missingVariable.rawValue
      case .unreadableVariables: TraceCause.unreadableVariables.rawValue
      case .noVariablesHash: TraceCause.noVariablesHash.rawValue
      case .payloadTooLarge: TraceCause.payloadTooLarge.rawValue
      }
    }
  }

  package let target: PreviewTarget
  /// Whether the job's audience has it; nil when only Redis knows.
  package let isInAudience: Bool?
  package let result: Result

  /// - Parameters:
  ///   - values: the user's.
  ///   - nowMs: the time of the job's creation and of the sending, in epoch milliseconds.
  init(
    of job: Job, to target: PreviewTarget, filledWith values: ReceiverValues,
    by directory: ProviderDirectory, nowMs: Int64
  ) {
    self.target = target
    isInAudience = target.isIn(job.audience)
    let provider = directory.provider(
      app: job.app, network: target.network, environment: target.environment)
    result = Self.result(job.content, target, values, provider, nowMs)
  }

  /// In the order in which a worker asks.
  private static func result(
    _ content: JobContent, _ target: PreviewTarget, _ values: ReceiverValues,
    _ provider: (any PushProvider)?, _ nowMs: Int64
  ) -> Result {
    guard content.environments.contains(target.environment) else {
      return .nothing(.environmentExcluded)
    }
    let kind = target.network == .apns ? content.apnsTokenKind : .alert
    guard target.kind.map({ $0 == kind }) ?? true else { return .nothing(.otherKind(kind)) }
    guard content.receivers.map(target.isIn) ?? true else { return .nothing(.filtered) }
    guard let provider else { return .nothing(.noCredentials) }
    if case .at(let expiresAtMs) = content.expiry, expiresAtMs <= nowMs {
      return .nothing(.expired)
    }
    guard content.isFor(target.network) else { return .nothing(.notForNetwork) }
    do throws(InvalidField) {
      let variants = try MessageVariants(content)
      let own = variants.contents[variants.index(language: target.language)]
      let rendered = try provider.render(own, createdAtMs: nowMs, nowMs: nowMs)
      guard rendered.dryRun != .skip else { return .nothing(.noDryRun) }
      return fill(rendered, variants, values, target, provider)
    } catch {
      return .nothing(.refused(error))
    }
  }

  private static func fill(
    _ rendered: RenderedPush, _ variants: MessageVariants, _ values: ReceiverValues,
    _ target: PreviewTarget, _ provider: any PushProvider
  ) -> Result {
    guard variants.hasMarks, rendered.holdsMarks else {
      return .request(
        PreviewedRequest(
          rendered, of: provider, to: target, devicesMax: provider.pushesPerRequest))
    }
    let known: [String: String]
    switch values {
    case _ where variants.placeholders.isEmpty: known = [:]
    case .values(let values): known = values
    case .unreadable: return .nothing(.unreadableVariables)
    case .noHash: return .nothing(.noVariablesHash)
    }
    var missing: String?
    let filled = rendered.filled(badge: target.nextBadge) { number in
      let placeholder = variants.placeholders[number]
      if let value = known[placeholder.name] ?? placeholder.fallback {
        return placeholder.written(value)
      }
      if case .installation = target { missing = missing ?? placeholder.name }
      return "{{\(placeholder.name)}}"
    }
    if let missing { return .nothing(.missingVariable(missing)) }
    let request = PreviewedRequest(filled, of: provider, to: target, devicesMax: 1)
    if let size = request.sizes.first(where: { $0.bytes > $0.bytesMax }) {
      return .nothing(.payloadTooLarge(size))
    }
    return .request(request)
  }
}

extension PreviewedPush.Cause {
  /// For a person, to stand behind a colon.
  package func sentence(_ target: PreviewTarget) -> String {
    let network = target.network.rawValue
    return switch self {
    case .environmentExcluded:
      "the job is not for installations of \(target.environment.rawValue) (/environments)"
    case .noCredentials:
      "this configuration has no credentials for \(network) in \(target.environment.rawValue); a "
        + "worker that has them would send it"
    case .expired: "the job has expired (/expires_at)"
    case .notForNetwork: "the job has nothing for \(network): add a notification or a part for it"
    case .noDryRun: "the job's \"dry_run\" is true, and \(network) has no dry run"
    case .refused(let field): "\(field)"
    case .otherKind(let kind):
      "the job is for tokens of kind \(kind.rawValue), and this is one of another kind"
    case .filtered: "\(TraceCause.filtered.explanation) (/filter)"
    case .missingVariable(let name):
      "the job's variables have no value for {{\(name)}}, which has no default"
    case .unreadableVariables: TraceCause.unreadableVariables.explanation
    case .noVariablesHash: TraceCause.noVariablesHash.explanation
    case .payloadTooLarge(let size):
      "filled in it makes a \(network) \(size.part) of \(FigureText.count(size.bytes)) bytes, and "
        + "\(FigureText.count(size.bytesMax)) are allowed"
    }
  }
}

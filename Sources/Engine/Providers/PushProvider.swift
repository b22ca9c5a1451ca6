package import HTTP2
package import Model

/// One push network for one app (and environment): how its requests look and what its answers mean.
///
/// A network lives in a folder of its own, and is built by its `NetworkMaterial`.
package protocol PushProvider: Sendable {
  var network: Network { get }
  var destination: PushDestination { get }
  /// Shared by all lanes, and by apps that use the same key or account.
  var credentials: any CredentialSource { get }
  /// Whether a request says how much of the job's life is left, so that it cannot be used for long; false where it
  /// names the instant at which the push expires.
  var tellsRemainingTime: Bool { get }
  /// How the network's answer looks by which it accepts a push.
  var acceptedForm: AcceptedForm { get }
  /// How many pushes of the same content a request carries at most; 1 unless the network takes several.
  var pushesPerRequest: Int { get }

  /// Renders the job once; per push only the token differs.
  ///
  /// Throws when the network would refuse the content from every device: no device is tried then.
  ///
  /// - Parameters:
  ///   - createdAtMs: when the job was created; a relative expiry counts from here.
  ///   - nowMs: the time of rendering, for networks that take a remaining time.
  func render(
    _ content: JobContent, createdAtMs: Int64, nowMs: Int64
  ) throws(InvalidField) -> RenderedPush

  /// Refuses what was rendered and the network may refuse from every device, without being sure. Asked when a job is admitted,
  /// and of nothing that was.
  func checkAdmission(
    of content: JobContent, as rendered: RenderedPush
  ) throws(InvalidField)

  /// Classifies the answer to a request of one push. An answer is a value, never an error.
  func classify(_ answer: ProviderAnswer) -> Classification

  /// Classifies an answer that may name the token that it is about.
  /// - Parameter token: of the push, borrowed.
  func classify(_ answer: ProviderAnswer, of token: UnsafeRawBufferPointer) -> Classification

  /// Classifies the answer to a request of several pushes, a 200 included; asked of networks that take several.
  /// - Parameter pushes: how many were in the request, 2 at least.
  func classify(_ answer: ProviderAnswer, pushes: Int) -> BatchClassification

  /// Says what an answer that is classified so means for all pushes to the destination.
  func sign(of classification: Classification, status: Int) -> AnswerSign

  /// Says what to do about a reason that holds every push of the app up.
  func remedy(for reason: String) -> String

  // What the doctor asks, who sends a request that reaches nobody.

  /// Whether the network may refuse to check requests for an app that it sends for.
  var mayRefuseChecks: Bool { get }

  /// Whether a reason is one that the network gives for a token which no device has.
  func blamesAbsentToken(_ reason: String) -> Bool

  /// Says what to do when the network refuses the credential.
  func remedy(forRefusedCredential reason: String) -> String
}

extension PushProvider {
  package var acceptedForm: AcceptedForm { .judged }

  package var pushesPerRequest: Int { 1 }

  package func checkAdmission(
    of content: JobContent, as rendered: RenderedPush
  ) throws(InvalidField) {}

  package func remedy(for reason: String) -> String { "check the app's configuration" }

  package var mayRefuseChecks: Bool { false }

  package func blamesAbsentToken(_ reason: String) -> Bool { false }

  package func remedy(forRefusedCredential reason: String) -> String { remedy(for: reason) }

  package func classify(_ answer: ProviderAnswer, of token: UnsafeRawBufferPointer)
    -> Classification
  {
    classify(answer)
  }

  package func classify(_ answer: ProviderAnswer, pushes: Int) -> BatchClassification {
    .all(classify(answer))
  }

  /// Whether a refusal's reason is a word of the network, in the place where that belongs: not the status alone, nor a word with
  /// a status that it does not come with, as a relay may give it.
  func isOwnWord(_ reason: String) -> Bool {
    !reason.hasPrefix("status ") && !reason.contains(" with status ")
  }

  package func sign(of classification: Classification, status: Int) -> AnswerSign {
    switch classification {
    case .retry where status == 408 || status == 429 || status >= 500: .trouble
    case .foreign: .trouble
    case .doubtfulToken: .misfit
    default: .none
    }
  }
}

/// The meaning of an answer to one push for all pushes of a destination.
package enum AnswerSign: Sendable, Equatable {
  case none
  /// The network is in trouble, or has had enough of us: the next push would fare no better.
  case trouble
  /// The network takes pushes, and has had too many of them a second.
  case overRate
  /// The token does not fit our environment, topic or sender: of one device that is its own affair, of
  /// many it is a mistake in the configuration.
  case misfit
  /// The app is set up wrongly: the next push would be refused as well, whatever its job and its token.
  case setup
  /// The job's content is refused, which is the same for its other devices.
  /// - Parameter isSure: false where the token may be to blame as well.
  case content(isSure: Bool)
}

/// The meaning of the answer to a request of several pushes.
package enum BatchClassification: Sendable, Equatable {
  /// One classification holds for each push of the request.
  case all(Classification)
  /// The network refuses the request because of some of its pushes. Parts of it are sent as requests of their own, until one
  /// push is alone in a request, whose answer decides; no attempt is burned.
  /// - Parameter token: the device token that the network blames; nil when it does not say which.
  case split(reason: String, token: String? = nil)
}

internal import Model
internal import Providers

/// The meaning of a request's answer for each push that it carried, and its consequences for the destination.
struct Judgement {
  let classification: Classification
  let sign: AnswerSign
  /// The consequence of the network's trouble for the pushes; nil when the answer is no trouble.
  let trouble: Breaker.Consequence?
  /// The consequence for the credential that the answer refuses; nil when it refuses none.
  var refusal: Authorization.Refusal?
  /// The run whose draw says when they are tried again; nil for each push's own.
  let lead: PushRun?
}

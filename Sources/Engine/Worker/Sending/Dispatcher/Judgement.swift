internal import Model
internal import Providers

/// What a request's answer means for each push that it carried, and what came of it for the destination.
struct Judgement {
  let classification: Classification
  let sign: AnswerSign
  /// What trouble of the network's means for the pushes; nil when the answer is no trouble.
  let trouble: Breaker.Consequence?
  /// What it means for the credential that the answer refuses; nil when it refuses none.
  var refusal: Authorization.Refusal?
  /// The run whose draw says when they are tried again; nil for each push's own.
  let lead: ChunkRun?
}

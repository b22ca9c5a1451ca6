/// Gathers the answers to the commands of a pipeline, in the order of the commands; loop-bound.
final class PipelineAnswers<Value: Sendable> {
  private var answers: [Result<Value, RedisError>?]
  private var missing: Int
  private let done: ([Result<Value, RedisError>]) -> Void

  /// - Parameter done: called once, with the last answer.
  init(count: Int, _ done: @escaping ([Result<Value, RedisError>]) -> Void) {
    answers = Array(repeating: nil, count: count)
    missing = count
    self.done = done
  }

  /// Notes an answer, the only one to the command at this place.
  func note(_ answer: Result<Value, RedisError>, of index: Int) {
    answers[index] = answer
    missing -= 1
    if missing == 0 { done(answers.compactMap(\.self)) }
  }
}

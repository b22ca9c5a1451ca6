internal import Redis

/// The answers to the commands of a pipeline; loop-bound.
final class PipelineAnswers<Answer> {
  /// One for each command; of those without a reply yet that there is none.
  var all: [Result<Answer, RedisError>]

  init(count: Int) {
    all = Array(repeating: .failure(.unavailable(reason: "no answer")), count: count)
  }

  func note(
    _ result: Result<RedisReply, RedisError>, of index: Int,
    decode: (RedisReply) throws(RedisError) -> Answer
  ) {
    do throws(RedisError) {
      all[index] = .success(try decode(try result.get()))
    } catch { all[index] = .failure(error) }
  }
}

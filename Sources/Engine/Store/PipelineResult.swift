internal import Redis

/// The first failure among the replies of a pipeline; loop-bound.
final class PipelineResult {
  private(set) var failure: RedisError?

  func note(_ result: Result<RedisReply, RedisError>) {
    if case .failure(let error) = result, failure == nil { failure = error }
  }
}

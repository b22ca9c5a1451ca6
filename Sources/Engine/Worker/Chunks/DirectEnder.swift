internal import Redis
internal import Store

/// Ends jobs that were sent from their entries: all that end while Redis is asked are told together; loop-bound.
final class DirectEnder {
  /// One of them, and the task that waits for its answer or for its turn to ask.
  private final class Place {
    let ending: DirectEnding
    var answer: Result<DirectAnswer, RedisError>?
    var waiting: UnsafeContinuation<Void, Never>?

    init(_ ending: DirectEnding) { self.ending = ending }
  }

  private let jobs: JobQueue
  private let consumer: String
  private var queue: [Place] = []
  private var isAsking = false

  init(jobs: JobQueue, consumer: String) {
    self.jobs = jobs
    self.consumer = consumer
  }

  func end(_ ending: DirectEnding) async throws(RedisError) -> DirectAnswer {
    let own = Place(ending)
    queue.append(own)
    if isAsking {
      await withUnsafeContinuation { own.waiting = $0 }
      own.waiting = nil
    }
    if let answer = own.answer { return try answer.get() }
    isAsking = true
    let batch = Array(queue.prefix(WorkerLimits.directEndsMax))
    queue.removeFirst(batch.count)
    let result: Result<[DirectAnswer], RedisError>
    do throws(RedisError) {
      result = .success(try await jobs.endDirect(batch.map(\.ending), consumer: consumer))
    } catch { result = .failure(error) }
    for (index, place) in batch.enumerated() {
      place.answer = result.map { $0[index] }
      place.waiting?.resume()
    }
    // The next one asks, for all that have come since.
    if let next = queue.first { next.waiting?.resume() } else { isAsking = false }
    guard let answer = own.answer else { throw .unavailable(reason: "nobody asked") }
    return try answer.get()
  }
}

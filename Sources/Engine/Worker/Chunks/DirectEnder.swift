internal import Redis
internal import Store

/// Ends jobs that were sent from their entries: all that end in one turn of the loop, or while Redis is asked, are told
/// together, and a second question leaves when it would be full; loop-bound.
final class DirectEnder {
  /// One of them, and the task that waits for its answer or for its turn to ask.
  private final class Place {
    let ending: DirectEnding
    var answer: Result<DirectAnswer, RedisError>?
    /// Whether it is asked of already.
    var isAsked = false
    /// Whether it may ask now, in place of one that has its answer.
    var mayAsk = false
    private var waiting: UnsafeContinuation<Void, Never>?

    init(_ ending: DirectEnding) { self.ending = ending }

    func wait() async { await withUnsafeContinuation { waiting = $0 } }

    func wake() {
      let continuation = waiting
      waiting = nil
      continuation?.resume()
    }
  }

  private let jobs: JobQueue
  private let consumer: String
  /// Those that nobody asks of yet.
  private var queue: [Place] = []
  /// How many ask, or have been told to.
  private var asking = 0
  /// How many of those wait for others to ask for with their own.
  private var gathering = 0

  init(jobs: JobQueue, consumer: String) {
    self.jobs = jobs
    self.consumer = consumer
  }

  func end(_ ending: DirectEnding) async throws(RedisError) -> DirectAnswer {
    let own = Place(ending)
    queue.append(own)
    if asking == 0 || queue.count >= WorkerLimits.directEndsMax * (gathering + 1) {
      asking += 1
      gathering += 1
      own.mayAsk = true
      // Others whose answers came with this one's are about to end, too.
      await Task.yield()
      gathering -= 1
    }
    while true {
      if own.mayAsk {
        own.mayAsk = false
        if own.isAsked { wakeNext() } else { await ask() }
        // It may have been told to ask once more meanwhile.
        continue
      }
      if let answer = own.answer { return try answer.get() }
      await own.wait()
    }
  }

  /// Asks of those at the head of the queue, and leaves the next question to the one behind them.
  private func ask() async {
    let batch = Array(queue.prefix(WorkerLimits.directEndsMax))
    queue.removeFirst(batch.count)
    for place in batch { place.isAsked = true }
    let result: Result<[DirectAnswer], RedisError>
    do throws(RedisError) {
      result = .success(try await jobs.endDirect(batch.map(\.ending), consumer: consumer))
    } catch { result = .failure(error) }
    for (index, place) in batch.enumerated() {
      place.answer = result.map { $0[index] }
      place.wake()
    }
    wakeNext()
  }

  private func wakeNext() {
    guard let next = queue.first(where: { !$0.mayAsk }) else {
      asking -= 1
      return
    }
    next.mayAsk = true
    next.wake()
  }
}

import Model
import Server

/// A feed whose seconds and whose fleet a test makes.
final class FeedStage: Sendable {
  let fleet = FakeFleet()
  let feed: FleetFeed
  private let metronome = Metronome()

  init() { feed = FleetFeed(fleet) { [metronome] in await metronome.pause() } }

  /// Lets a page listen.
  func page(
    lastEventID: String? = nil, isStuck: Bool = false,
    while mayLook: (@Sendable () async -> Bool)? = nil
  ) -> FakePage {
    let page = FakePage(isStuck: isStuck)
    page.listen(to: feed, lastEventID, mayLook)
    return page
  }

  /// Lets seconds pass; the readings that they begin have ended then, unless the fleet keeps them.
  func pass(seconds: Int = 1) async {
    for _ in 0..<seconds {
      await metronome.tick()
      while await feed.isReading, await !fleet.isSilent { await Task.yield() }
    }
  }
}

/// Seconds that a test lets pass.
actor Metronome {
  private var paused: CheckedContinuation<Void, Never>?
  private var waiting: [CheckedContinuation<Void, Never>] = []

  func pause() async {
    await withCheckedContinuation { continuation in
      paused = continuation
      for waiter in waiting { waiter.resume() }
      waiting = []
    }
  }

  /// Ends the pause that is or comes, and waits for the next one.
  func tick() async {
    await untilPaused()
    paused?.resume()
    paused = nil
    await untilPaused()
  }

  private func untilPaused() async {
    guard paused == nil else { return }
    await withCheckedContinuation { waiting.append($0) }
  }
}

/// A fleet that says what a test wants.
actor FakeFleet: FleetSource {
  private(set) var looks = 0
  /// Whether its answers stay away.
  private(set) var isSilent = false
  private var sections: [FeedSection: JSONValue] = [.fleet: ["n": .integer(1)], .jobs: [:]]
  private var problem: Problem?
  private var kept: [CheckedContinuation<Void, Never>] = []

  func say(_ section: FeedSection, _ number: Int) { sections[section] = ["n": .integer(number)] }
  func fail(_ detail: String?) { problem = detail.map { .unavailable($0) } }

  func keepSilent(_ isSilent: Bool) {
    self.isSilent = isSilent
    guard !isSilent else { return }
    for continuation in kept { continuation.resume() }
    kept = []
  }

  func look() async throws(Problem) -> FeedReading {
    looks += 1
    if isSilent { await withCheckedContinuation { kept.append($0) } }
    if let problem { throw problem }
    return FeedReading(nowMs: Int64(looks) * 1_000, sections: sections)
  }

  func pace(app: String, id: String) -> PaceSeries? { nil }
}

/// A page that keeps what it was told.
final class FakePage: Sendable {
  private let text: Told

  init(isStuck: Bool) { text = Told(isStuck: isStuck) }

  func listen(
    to feed: FleetFeed, _ lastEventID: String?, _ mayLook: (@Sendable () async -> Bool)?
  ) {
    let text = text
    Task {
      let result: Result<Void, any Error>
      do {
        try await feed.serve(text, lastEventID: lastEventID, while: mayLook)
        result = .success(())
      } catch { result = .failure(error) }
      await text.end(result)
    }
  }

  /// Waits until it was told something with these words in it. - Returns: all that it was told.
  @discardableResult
  func told(_ words: String) async -> String { await text.until { $0.contains(words) } }

  /// Waits for the end of the stream. - Returns: whether it was no failure.
  func ended() async -> Bool { await text.ended() }

  var all: String { get async { await text.text } }
  var isEnded: Bool { get async { await text.result != nil } }
}

private actor Told: APIBodyWriter {
  private struct Waiter {
    let holds: @Sendable (String) -> Bool
    let continuation: CheckedContinuation<String, Never>
  }

  private(set) var text = ""
  private(set) var result: Bool?
  private let isStuck: Bool
  private var waiting: [Waiter] = []
  private var awaitingEnd: [CheckedContinuation<Bool, Never>] = []

  init(isStuck: Bool) { self.isStuck = isStuck }

  func write(_ bytes: [UInt8]) async throws {
    // A client that reads nothing holds its writer until that is cancelled.
    if isStuck, !text.isEmpty { try await AsyncStream<Void> { _ in }.firstOrCancellation() }
    text += String(decoding: bytes, as: UTF8.self)
    for (index, waiter) in waiting.enumerated().reversed() where waiter.holds(text) {
      waiting.remove(at: index)
      waiter.continuation.resume(returning: text)
    }
  }

  func until(_ holds: @escaping @Sendable (String) -> Bool) async -> String {
    if holds(text) { return text }
    return await withCheckedContinuation { waiting.append(Waiter(holds: holds, continuation: $0)) }
  }

  func end(_ result: Result<Void, any Error>) {
    if case .success = result { self.result = true } else { self.result = false }
    for continuation in awaitingEnd { continuation.resume(returning: self.result == true) }
    awaitingEnd = []
  }

  func ended() async -> Bool {
    if let result { return result }
    return await withCheckedContinuation { awaitingEnd.append($0) }
  }
}

extension AsyncStream where Element == Void {
  /// Waits for ever, or until the task is cancelled.
  fileprivate func firstOrCancellation() async throws {
    for await _ in self { return }
    try Task.checkCancellation()
  }
}

package import Model
internal import Typesetting

/// Reads Redis for all pages of this process, once a second while at least one of them is open, and tells each what has
/// changed.
///
/// A section's event holds the whole section. So what a page has missed is the last event of each section that changed since,
/// and the feed keeps no more than these: it needs no queue for anybody.
package actor FleetFeed {
  private struct Kept {
    let number: Int
    let data: JSONValue
    /// The data as text, and the whole event.
    let text: [UInt8]
    let bytes: [UInt8]
  }

  /// The next thing for a page to write.
  enum Turn {
    case write([UInt8])
    /// The stream ends, and its page comes back.
    case end
  }

  private struct Listener {
    /// The number of the last event that it was given.
    var after: Int
    /// Set while it has nothing to write.
    var waiting: CheckedContinuation<Turn, Never>?
    /// Seconds since it was given something, whether it has written that or not.
    var sinceTurn = 0
    var age = 0
    /// The writing of its stream; nil for a page that asks once.
    var writing: Task<Void, any Error>?
    /// Whether it still may look.
    var mayLook: (@Sendable () async -> Bool)?
  }

  private let source: any FleetSource
  /// Waits for a second.
  private let pause: @Sendable () async -> Void
  /// Tells the events of this process from those of another.
  private let epoch: String
  private var number = 0
  private var kept: [FeedSection: Kept] = [:]

  private var listeners: [Int: Listener] = [:]
  private var names = 0
  /// Seconds for which Redis is read although no page has a stream.
  private var pollSeconds = 0

  private var isRunning = false
  /// Whether a reading has ended, well or not, since the feed began to run.
  private var isFresh = false
  private var readingSeconds: Int?
  private var lastReadMs: Int64?
  private var awaySinceMs: Int64?
  private var clockSeconds = 0

  package init(_ services: Services) {
    self.init(FleetReader(services)) { try? await Task.sleep(for: .seconds(1)) }
  }

  package init(_ source: any FleetSource, pause: @escaping @Sendable () async -> Void) {
    self.source = source
    self.pause = pause
    epoch = String(UInt64.random(in: 0...UInt64.max), radix: 16)
  }

  /// Whether another page may listen.
  package var hasRoom: Bool { listeners.count < ServerLimits.feedListenersMax }

  /// How many pages have a stream.
  package var listenerCount: Int { listeners.values.count { $0.writing != nil } }

  /// Whether Redis is being read at this moment.
  package var isReading: Bool { readingSeconds != nil }

  // MARK: Pages

  /// Writes the events of a stream until the page goes, is too slow, or its time is over.
  /// - Parameters:
  ///   - lastEventID: the last one that it had; nil or strange for none.
  ///   - mayLook: asked each few seconds; its no ends the stream.
  package func serve(
    _ writer: any APIBodyWriter, lastEventID: String?,
    while mayLook: (@Sendable () async -> Bool)? = nil
  ) async throws {
    guard let name = join(after: lastEventID) else { return }
    let writing = Task {
      try await writer.write(ServerSentEvent.retry(ms: ServerLimits.feedRetryMs))
      while case .write(let bytes) = await next(name) { try await writer.write(bytes) }
    }
    listeners[name]?.writing = writing
    listeners[name]?.mayLook = mayLook
    defer { leave(name) }
    try await withTaskCancellationHandler {
      try await writing.value
    } onCancel: {
      writing.cancel()
    }
  }

  /// Returns at once what a page without a stream has not had yet.
  /// - Parameter after: the id that the last answer had.
  package func latest(after: String?) async throws(Problem) -> JSONValue {
    pollSeconds = ServerLimits.feedPollSeconds
    if !isFresh || !isRunning {
      guard let name = join(after: nil) else {
        throw .unavailable("too many pages are open: try again later", retryAfterS: 10)
      }
      // The first reading wakes it.
      _ = await next(name)
      leave(name)
    }
    let number = number(of: after)
    let events = kept.filter { $0.value.number > number }
      .sorted { $0.value.number < $1.value.number }
      .map { section, event in
        JSONValue.object(["event": .string(section.rawValue), "data": event.data])
      }
    return .object([
      "id": .string(FeedEventID(epoch: epoch, number: self.number).text), "events": .array(events),
    ])
  }

  /// How a job went on while it was looked at.
  package func pace(app: String, id: String) async -> PaceSeries? {
    await source.pace(app: app, id: id)
  }

  private func join(after id: String?) -> Int? {
    guard hasRoom else { return nil }
    names += 1
    listeners[names] = Listener(after: number(of: id))
    run()
    return names
  }

  private func leave(_ name: Int) {
    listeners.removeValue(forKey: name)?.waiting?.resume(returning: .end)
  }

  /// The number of an event of this feed; 0 for any other.
  private func number(of id: String?) -> Int {
    guard let id = id.flatMap({ FeedEventID($0) }), id.epoch == epoch, id.number <= number else {
      return 0
    }
    return id.number
  }

  private func next(_ name: Int) async -> Turn {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        guard listeners[name] != nil, !Task.isCancelled else {
          return continuation.resume(returning: .end)
        }
        listeners[name]?.waiting = continuation
        deliver(to: name)
      }
    } onCancel: {
      Task { await self.leave(name) }
    }
  }

  private func deliver(to name: Int) {
    guard isFresh, let listener = listeners[name], listener.waiting != nil else { return }
    let news = kept.values.filter { $0.number > listener.after }.sorted { $0.number < $1.number }
    guard let last = news.last else { return }
    listeners[name]?.after = last.number
    resume(name, .write(news.flatMap(\.bytes)))
  }

  private func deliver() {
    for name in listeners.keys.sorted() { deliver(to: name) }
  }

  private func resume(_ name: Int, _ turn: Turn) {
    let waiting = listeners[name]?.waiting
    listeners[name]?.waiting = nil
    listeners[name]?.sinceTurn = 0
    waiting?.resume(returning: turn)
  }

  private func end(_ name: Int) {
    guard listeners[name]?.waiting != nil else { listeners[name]?.writing?.cancel(); return }
    resume(name, .end)
  }

  // MARK: The second

  private func run() {
    guard !isRunning else { return }
    isRunning = true
    // What was kept is from when a page last listened.
    isFresh = false
    Task {
      while !listeners.isEmpty || pollSeconds > 0 {
        read()
        await pause()
        tick()
      }
      isRunning = false
    }
  }

  private func tick() {
    if pollSeconds > 0 { pollSeconds -= 1 }
    clockSeconds += 1
    if let seconds = readingSeconds {
      readingSeconds = seconds + 1
      if seconds + 1 == ServerLimits.feedReadingSeconds {
        noteAway("Redis takes longer than \(ServerLimits.feedReadingSeconds) s to be read")
      }
    }
    for name in listeners.keys.sorted() {
      listeners[name]?.sinceTurn += 1
      listeners[name]?.age += 1
      guard let listener = listeners[name] else { continue }
      if let mayLook = listener.mayLook, listener.age % ServerLimits.feedRightsSeconds == 0 {
        Task { if await !mayLook() { end(name) } }
      }
      if listener.age >= ServerLimits.feedLifeSeconds, listener.waiting != nil {
        resume(name, .end)
      } else if listener.waiting == nil {
        if listener.sinceTurn >= ServerLimits.feedSlowSeconds { listener.writing?.cancel() }
      } else if listener.sinceTurn >= ServerLimits.feedHeartbeatSeconds {
        resume(name, .write(ServerSentEvent.heartbeat))
      }
    }
  }

  /// Begins a reading, unless one is under way.
  private func read() {
    guard readingSeconds == nil else { return }
    readingSeconds = 0
    Task {
      do throws(Problem) {
        publish(try await source.look())
      } catch {
        noteAway(error.detail)
      }
      readingSeconds = nil
    }
  }

  private func publish(_ reading: FeedReading) {
    let wasAway = awaySinceMs != nil
    (awaySinceMs, lastReadMs, isFresh) = (nil, reading.nowMs, true)
    if wasAway || kept[.store] == nil || clockSeconds >= ServerLimits.feedClockSeconds {
      clockSeconds = 0
      put(.store, .object(["away": .bool(false), "at": .integer(reading.nowMs)]))
    }
    for section in FeedSection.allCases where section != .store {
      if let value = reading.sections[section] { put(section, value) }
    }
    deliver()
  }

  /// Says that the store cannot be read, and since when; the sections stay as they were read last.
  private func noteAway(_ detail: String) {
    let sinceMs = awaySinceMs ?? InstantText.nowMs()
    (awaySinceMs, isFresh) = (sinceMs, true)
    var object: JSONObject = [
      "away": .bool(true), "since": .integer(sinceMs), "detail": .string(detail),
    ]
    object["at"] = lastReadMs.map { .integer($0) }
    put(.store, .object(object))
    deliver()
  }

  /// Takes a section when it is another than before.
  private func put(_ section: FeedSection, _ data: JSONValue) {
    let text = data.bytes()
    guard kept[section]?.text != text else { return }
    number += 1
    let id = FeedEventID(epoch: epoch, number: number).text
    kept[section] = Kept(
      number: number, data: data, text: text,
      bytes: ServerSentEvent.bytes(name: section.rawValue, id: id, data: text))
  }
}

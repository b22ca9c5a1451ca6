import Testing

@testable import Server

/// What is believed of Redis's answers while things change.
@Suite struct LookupCacheTests {
  /// An answer of Redis that a test keeps back.
  private actor Question {
    private(set) var isAsked = false
    private var answer: CheckedContinuation<String?, Never>?

    func ask() async -> String? {
      isAsked = true
      return await withCheckedContinuation { answer = $0 }
    }

    /// Waits until it is asked.
    func asked() async {
      while answer == nil { await Task.yield() }
    }

    func answer(_ value: String?) {
      answer?.resume(returning: value)
      answer = nil
    }
  }

  @Test("an answer from before a change is neither kept nor told to whoever asks after it")
  func forgets() async throws {
    let cache = LookupCache<String>(clock: try AccessStage().clock)
    let (before, after) = (Question(), Question())
    async let old = cache.read("k") { await before.ask() }
    await before.asked()
    cache.forget("k")
    async let new = cache.read("k") { await after.ask() }
    await after.asked()
    // The first question is answered while the second one is open.
    await before.answer("revoked")
    #expect(try await old == "revoked")
    let isForgotten = if case .unknown = cache.recall("k") { true } else { false }
    #expect(isForgotten)
    // Whoever asks now waits for the second one.
    let third = Question()
    async let same = cache.read("k") { await third.ask() }
    await after.answer(nil)
    #expect(try await new == nil)
    #expect(try await same == nil)
    #expect(await !third.isAsked)
    let isKnown = if case .fresh(nil) = cache.recall("k") { true } else { false }
    #expect(isKnown)
  }
}

import Model
import Store
import Testing

@testable import Worker

@Suite struct ChunkNewsTests {
  private var news = ChunkNews(done: DoneBitmap())
  private let arena = ByteArena()

  private func push(
    _ token: String, network: Network = .apns, attempt: UInt8 = 1, badge: Int32 = 0
  ) -> Push {
    Push(
      token: arena.copy(token), user: arena.copy("ann"), generation: 7, recipient: 0,
      network: network, environment: .production, attempt: attempt, target: PushTarget(to: 0),
      badge: badge, boundNs: 0)
  }

  @Test("a recipient without a push is one result, and what was taken is told no more")
  mutating func countsResults() {
    news.finish(0, results: 0)
    news.finish(2, results: 3)
    #expect(news.recipients == 2 && news.results == 4)
    let first = news.take(isFinal: false)
    #expect(first.done.contains(0) && !first.done.contains(1) && first.done.contains(2))
    #expect(first.told?.count == 0)
    #expect(news.recipients == 0 && news.results == 0)
    news.finish(1, results: 1)
    let second = news.take(isFinal: true)
    #expect(second.isFinal && second.done.count == 3 && second.told == first.done)
  }

  @Test("a skip counts under its network, and under none when no installation was read")
  mutating func skips() {
    news.skip(0, network: .fcm)
    news.skip(1, network: nil)
    let told = news.take(isFinal: false)
    #expect(told.counts[.fcm]?.skipped == 1 && told.counts.count == 1)
    #expect(told.skippedUnread == 1 && told.done.count == 2)
    let rest = news.take(isFinal: false)
    #expect(rest.isEmpty)
  }

  @Test("a push that came back without being tried is no retry, and keeps its attempts")
  mutating func retries() {
    news.retry(push("aa", attempt: 2), delayMs: 250, joins: true, attempt: 1)
    news.retry(push("bb", badge: 3), delayMs: 250, joins: true, attempt: 1)
    news.retry(push("cc"), delayMs: 500, joins: true, attempt: 1)
    let told = news.take(isFinal: false)
    #expect(told.retries == 2)
    #expect(
      told.residuals.reduce(into: [:]) {
        $0[$1.delayMs] = String(decoding: $1.lines, as: UTF8.self)
      }
        == [
          250: "apns\tproduction\taa\tann\t7\t1\napns\tproduction\tbb\tann\t7\t1\t3\n",
          500: "apns\tproduction\tcc\tann\t7\t1\n",
        ])
    let rest = news.take(isFinal: false)
    #expect(rest.isEmpty)
  }

  @Test("what must not come back with other chunks' pushes is told apart from what may")
  mutating func tellsJoiningApart() {
    for joins in [true, false, true] {
      news.retry(push("aa"), delayMs: 250, joins: joins, attempt: 1)
    }
    let told = news.take(isFinal: false)
    let lines = told.residuals.map { $0.lines.count { $0 == UInt8(ascii: "\n") } }
    #expect(told.residuals.map(\.joins) == [true, false] && lines == [2, 1])
  }

  @Test("pushes without credentials are left by the environment in which they are to be tried")
  mutating func leaves() {
    news.leave(push("aa"), for: .development, attempt: 1)
    news.leave(push("bb"), for: .production, attempt: 0)
    news.leave(push("cc"), for: .development, attempt: 0)
    let told = news.take(isFinal: false)
    #expect(told.retries == 1)
    #expect(told.unrouted.map(\.environment) == [.production, .development])
    #expect(
      told.unrouted.map { String(decoding: $0.lines, as: UTF8.self) } == [
        "apns\tproduction\tbb\tann\t7\t0\n",
        "apns\tdevelopment\taa\tann\t7\t1\napns\tdevelopment\tcc\tann\t7\t0\n",
      ])
    let rest = news.take(isFinal: false)
    #expect(rest.isEmpty)
  }

  @Test("an answer that was taken back is not told")
  mutating func discounts() {
    news.tally(push("aa"), answers: 1)
    news.tally(push("aa"), misfits: 1)
    news.tally(push("aa"), answers: -1, misfits: -1)
    news.tally(push("bb", network: .fcm), answers: 1)
    let told = news.take(isFinal: false)
    #expect(told.tallies.map(\.network) == [.fcm])
  }

  @Test("the chunk has the lines that were taken, and the store only those that it confirmed")
  mutating func addsLines() {
    news.keepOpen(push("aa", attempt: 2))
    #expect(news.addedLines.isEmpty)
    let first = news.take(isFinal: false).stillOpen
    #expect(String(decoding: first, as: UTF8.self) == "apns\tproduction\taa\tann\t7\t1\n")
    #expect(news.addedLines == first && news.confirmedLines.isEmpty)
    news.confirm()
    news.keepOpen(push("bb"))
    let second = news.take(isFinal: false).stillOpen
    #expect(news.addedLines == first + second && Array(news.confirmedLines) == first)
  }
}

import Model
import ProgramSetup
import Testing
import Typesetting

@testable import CommandLineInterface

/// The lines of `pushpool top`, without a terminal.
@Suite struct TopScreenTests {
  private static let shopAPNs = TopLook.Lane(app: "shop", network: "apns")
  private static let newsFCM = TopLook.Lane(app: "news", network: "fcm")

  private static func job(_ id: String, done: Int, of total: Int) -> JobRecord {
    var job = JobRecord(app: "shop", id: id, state: .running)
    job.total = total
    job.pending = total - done
    job.counts.accepted = done
    job.startedAtMs = 1_789_999_990_000
    return job
  }

  private static func look() -> TopLook {
    var look = TopLook()
    look.nowMs = 1_790_000_000_000
    look.talliedAtMs = 1_790_000_000_400
    look.tallies = [
      shopAPNs: .init(accepted: 5_000, others: 100), newsFCM: .init(accepted: 200, others: 0),
    ]
    look.lastMinute = [shopAPNs: .init(accepted: 600, others: 60), newsFCM: .init(accepted: 6_000)]
    look.workers = [
      .init(name: "push-1-4711-1k3x9q2", acceptedPerSecond: 95_200, inFlight: 1_874, connections: 4)
    ]
    look.queues = Priority.allCases.map {
      .init(priority: $0, jobs: 1, waiting: 40, inWork: 24, oldestMs: 3_400)
    }
    look.delayed = 2
    look.dead = 7
    look.alarms = [
      .init(
        field: "credential|shop|apns|production", message: "APNs refused the token",
        sinceMs: 1_789_999_970_000)
    ]
    look.jobs = (0..<30).map { job("sale-\($0)", done: $0, of: 40) }
    look.jobCount = 30
    return look
  }

  private static func state() -> TopState {
    var state = TopState(place: "redis://127.0.0.1:6379/0, prefix pushpool")
    state.take(look())
    return state
  }

  private static func screen(_ state: TopState, columns: Int = 80) -> TopScreen {
    TopScreen(state, on: Terminal(isInteractive: true), columns: columns)
  }

  @Test(
    "no line is wider than the terminal, and there are no more than it has room for",
    arguments: [(60, 20), (20, 4), (80, 24), (160, 60), (33, 7)])
  func size(columns: Int, rows: Int) {
    for state in [Self.state(), TopState(place: "redis://h")] {
      let lines = Self.screen(state, columns: columns).lines(rows: rows)
      #expect(lines.count <= rows)
      #expect(lines.allSatisfy { DisplayText.columns($0) <= columns })
      #expect(lines.first?.hasPrefix("pushpool top") == true)
      #expect(lines.last?.hasPrefix("q quit") == true)
    }
  }

  @Test("60 columns and 20 lines show sums, alarms and rates, and the rest by scrolling")
  func narrow() {
    var state = Self.state()
    let top = Self.screen(state, columns: 60).lines(rows: 20).joined(separator: "\n")
    #expect(top.contains("accepted 110/s  workers 1  backlog 195  oldest 3.4 s  dead 7"))
    #expect(top.contains("1 alarm\n"))
    #expect(top.contains("credential|shop|apns|production"))
    #expect(top.contains("shop apns") && top.contains("news fcm"))
    #expect(top.contains("more below") && !top.contains("sale-29"))
    for _ in 0..<500 { state.press(.down) }
    let screen = Self.screen(state, columns: 60)
    state.limitScroll(to: screen.scrollMax(rows: 20))
    let bottom = Self.screen(state, columns: 60).lines(rows: 20)
    #expect(bottom.joined().contains("sale-29") && !bottom.joined().contains("more below"))
    #expect(bottom.first == Self.screen(Self.state(), columns: 60).lines(rows: 20).first)
    state.press(.up)
    #expect(!Self.screen(state, columns: 60).lines(rows: 20).joined().contains("sale-29"))
  }

  @Test("a job shows its progress, in ASCII where the terminal has no more")
  func progress() {
    let unicode = Self.screen(Self.state(), columns: 100).wholeLines()
    #expect(unicode.contains { $0.contains("████░░░░") && $0.hasSuffix("shop sale-20") })
    let ascii = TopScreen(
      Self.state(), on: Terminal(isInteractive: true, isUnicode: false), columns: 100)
    #expect(ascii.wholeLines().contains { $0.contains("####....") })
  }

  @Test("s changes the order of rates and jobs")
  func order() throws {
    var state = Self.state()
    func rank(_ text: String) throws -> Int {
      try #require(
        Self.screen(state, columns: 100).wholeLines().firstIndex { $0.hasSuffix(text) })
    }
    #expect(try rank("news fcm") < rank("shop apns"))
    #expect(try rank("shop sale-9") < rank("shop sale-10"))
    state.press(.sort)
    #expect(state.order == .name)
    #expect(try rank("news fcm") < rank("shop apns"))
    #expect(try rank("shop sale-10") < rank("shop sale-9"))
    state.press(.sort)
    #expect(state.order == .busiest)
  }

  @Test("the backlog is shown by app, also of one that sends nothing, in the order of the rest")
  func backlogByApp() throws {
    var look = Self.look()
    look.chunks = ["shop": 2_400, "waits": 7, "news": 7]
    var state = TopState(place: "redis://h")
    state.take(look)
    func rows() throws -> [String] {
      let lines = Self.screen(state, columns: 60).wholeLines()
      let title = try #require(lines.firstIndex { $0.hasPrefix("  CHUNKS") })
      return Array(lines[(title + 1)...(title + 3)])
    }
    #expect(try rows() == ["   2,400  shop", "       7  news", "       7  waits"])
    state.press(.sort)
    #expect(try rows().map { $0.suffix(5) } == [" news", " shop", "waits"])
    #expect(!Self.screen(Self.state()).wholeLines().contains { $0.hasPrefix("  CHUNKS") })
    look.hidesChunks = true
    state.take(look)
    #expect(
      Self.screen(state).wholeLines().contains(
        "  the chunks of each app cannot be read (the keys share:*)"))
  }

  @Test("what is held still, missing or empty is said")
  func states() {
    var state = Self.state()
    state.press(.pause)
    #expect(Self.screen(state).lines(rows: 24).last?.hasPrefix("PAUSED") == true)
    state.problem = "Redis at unix:/x: there is no connection"
    #expect(Self.screen(state).lines(rows: 24).contains { $0.hasPrefix("Redis at unix:/x") })
    var empty = TopState(place: "redis://h")
    #expect(Self.screen(empty).lines(rows: 24).contains("looking"))
    empty.take(TopLook())
    let lines = Self.screen(empty).wholeLines()
    #expect(lines.contains("nobody sends: no worker beats"))
    #expect(lines.contains("  nothing was sent of late"))
    #expect(lines.contains("Jobs: 0 under way"))
    var part = Self.look()
    part.isWhole = false
    part.lost = ["push-2"]
    empty.take(part)
    #expect(Self.screen(empty).wholeLines().contains("  and more: not all apps were looked at"))
    #expect(Self.screen(empty).wholeLines().contains("  push-2 is silent"))
  }

  @Test("colours are only where the terminal has them, and nothing of others moves the cursor")
  func colours() {
    var look = Self.look()
    look.jobs = [Self.job("\u{1B}[2Jevil\n", done: 1, of: 2)]
    look.alarms = [.init(field: "a|\u{1B}]0;x\u{7}", message: "\u{9B}31m", sinceMs: 0)]
    var state = TopState(place: "redis://h")
    state.take(look)
    let plain = Self.screen(state).wholeLines().joined(separator: "\n")
    #expect(!plain.contains("\u{1B}") && !plain.contains("\u{9B}"))
    let colour = TopScreen(
      state, on: Terminal(isInteractive: true, hasColour: true), columns: 80
    ).wholeLines().joined(separator: "\n")
    #expect(colour.contains("\u{1B}[1mRates\u{1B}[0m"))
    #expect(!colour.contains("\u{1B}[2J") && !colour.contains("\u{1B}]"))
  }

  @Test("rates are of the time between two looks, and totals that begin anew give none")
  func rates() {
    var state = Self.state()
    #expect(state.rates[Self.shopAPNs] == .init(accepted: 10, others: 1))
    var next = Self.look()
    next.tallies[Self.shopAPNs] = .init(accepted: 5_400, others: 120)
    next.tallies[Self.newsFCM] = .init(accepted: 3, others: 0)
    let fresh = TopLook.Lane(app: "new", network: "jpush")
    next.tallies[fresh] = .init(accepted: 8, others: 0)
    next.talliedAtMs += 2_000
    next.isWhole = false
    // As when Redis was away: the time since the last look counts.
    state.problem = "Redis cannot be asked"
    state.take(next)
    #expect(state.problem == nil)
    #expect(state.rates[Self.shopAPNs] == .init(accepted: 200, others: 10))
    #expect(state.rates[Self.newsFCM] == .init(accepted: 100, others: 0))
    #expect(state.rates[fresh] == .init(accepted: 4, others: 0))
    // A lane that the last look may have left out has not begun since.
    let late = TopLook.Lane(app: "late", network: "fcm")
    next.tallies[late] = .init(accepted: 1_000_000, others: 0)
    next.talliedAtMs += 1_000
    state.take(next)
    #expect(state.rates[late] == nil)
    #expect(state.rates[Self.shopAPNs] == .init(accepted: 0, others: 0))
  }

  @Test(
    "keys are told from what else a terminal sends",
    arguments: [
      ("q", [TopKey.quit]), ("Qps", [.quit, .pause, .sort]), ("jk", [.down, .up]),
      ("\u{1B}[A\u{1B}[B", [.up, .down]), ("\u{1B}OA", [.up]), ("\u{1B}[1;5B", [.down]),
      ("\u{1B}[200~", []), ("\u{1B}", []), ("x\u{0}\r", []), ("\u{1B}[", []),
    ])
  func keys(text: String, keys: [TopKey]) {
    #expect(TopKey.all(in: Array(text.utf8)) == keys)
  }
}

internal import Model
internal import Operations
internal import ProgramSetup
internal import Typesetting

/// The lines of `top`: a pure function of its state and of the size of the terminal.
struct TopScreen {
  let state: TopState
  let terminal: Terminal
  let columns: Int

  /// A line before it is cut to the width and emphasised.
  private struct Line {
    let text: String
    var style: TextStyle?

    init(_ text: String, _ style: TextStyle? = nil) {
      self.text = text
      self.style = style
    }
  }

  init(_ state: TopState, on terminal: Terminal, columns: Int) {
    self.state = state
    self.terminal = terminal
    self.columns = max(columns, CommandLineLimits.topColumnsMin)
  }

  /// At most so many lines, none wider than the terminal: a head that stays, the part of the body that was scrolled to, and the
  /// keys.
  func lines(rows: Int) -> [String] {
    let rows = max(rows, CommandLineLimits.topLinesMin)
    let head = Array(head.prefix(rows - 2))
    let body = body
    let room = rows - head.count - 1
    let start = min(state.scroll, max(0, body.count - room))
    let shown = body[start..<min(body.count, start + room)]
    let below = body.count - start - shown.count
    return (head + shown).map(finished) + [finished(foot(below: below))]
  }

  /// How far the body can be scrolled on so many lines.
  func scrollMax(rows: Int) -> Int {
    let rows = max(rows, CommandLineLimits.topLinesMin)
    return max(0, body.count - (rows - min(head.count, rows - 2) - 1))
  }

  /// All of it, for what is no terminal.
  func wholeLines() -> [String] { (head + body).map(finished) }

  private func finished(_ line: Line) -> String {
    let text = DisplayText.fitted(DisplayText.printable(line.text), columns: columns)
    return line.style?.apply(text, on: terminal) ?? text
  }

  // MARK: Head and foot

  private var head: [Line] {
    guard let look = state.look else {
      return [Line("pushpool top  \(state.place)", .bold), problem ?? Line("looking")]
    }
    let time = InstantText.local(ms: look.nowMs)
    let sum = state.rates.values.reduce(0.0) { $0 + $1.accepted }
    var lines = [
      Line("pushpool top  \(time)  \(state.place)", .bold),
      Line(
        "accepted \(Self.rate(sum))/s  workers \(look.workers.count)  "
          + "backlog \(FigureText.count(look.backlog))  oldest \(Self.age(look.oldestMs))  "
          + "dead \(FigureText.count(look.dead))"),
    ]
    if let problem { lines.append(problem) }
    if look.workers.isEmpty { lines.append(Line("nobody sends: no worker beats", .red)) }
    if !look.alarms.isEmpty {
      let count = look.alarms.count
      lines.append(Line("\(count) alarm\(count == 1 ? "" : "s")", .red))
    }
    return lines
  }

  private var problem: Line? { state.problem.map { Line($0, .red) } }

  private func foot(below: Int) -> Line {
    let paused = state.isPaused ? "PAUSED  " : ""
    let scroll = below > 0 ? "j/k: \(below) more below" : "j/k scroll"
    return Line(
      "\(paused)q quit  p pause  s sort: \(state.order.rawValue)  \(scroll)", .dim)
  }

  // MARK: Body

  private var body: [Line] {
    guard let look = state.look else { return [] }
    var lines: [Line] = []
    if !look.alarms.isEmpty {
      lines.append(Line("Alarms", .bold))
      lines += look.alarms.map {
        Line(
          "  \($0.field), for \(FigureText.duration(ms: max(0, look.nowMs - $0.sinceMs))): \($0.message)"
        )
      }
    }
    lines.append(Line("Rates", .bold))
    lines += table(rateTable(look), orElse: "  nothing was sent of late")
    if !look.isWhole { lines.append(Line("  and more: not all apps were looked at")) }
    lines.append(Line("Backlog", .bold))
    lines += table(queueTable(look), orElse: "")
    lines.append(
      Line(
        "  delayed \(FigureText.count(look.delayed)), dead \(FigureText.count(look.dead)), "
          + "switched off \(FigureText.count(look.switchedOff))"))
    lines += table(appTable(look), orElse: "")
    if look.hidesChunks {
      lines.append(Line("  the chunks of each app cannot be read (the keys share:*)"))
    }
    lines.append(Line("Workers", .bold))
    lines += table(workerTable(look), orElse: "  none: start one with pushpool worker")
    lines += look.lost.map { Line("  \($0) is silent") }
    lines.append(Line("Jobs: \(FigureText.count(look.jobCount)) under way", .bold))
    lines += table(jobTable(look), orElse: "  none")
    return lines
  }

  /// The first line of a table has its titles.
  private func table(_ table: TextTable, orElse nothing: String) -> [Line] {
    guard !table.isEmpty else { return nothing.isEmpty ? [] : [Line(nothing)] }
    return table.lines().enumerated().map { Line($1, $0 == 0 ? .dim : nil) }
  }

  private func rateTable(_ look: TopLook) -> TextTable {
    var table = TextTable([
      .init("  ACCEPTED/S", .right), .init("OTHERS/S", .right), .init("LAST MINUTE", .right),
      .init("APP AND NETWORK"),
    ])
    func name(_ lane: TopLook.Lane) -> String { "\(lane.app) \(lane.network)" }
    let lanes = state.rates.sorted { one, other in
      switch state.order {
      case .name: return name(one.key) < name(other.key)
      case .busiest:
        let (a, b) = (
          one.value.accepted + one.value.others, other.value.accepted + other.value.others
        )
        return a != b ? a > b : name(one.key) < name(other.key)
      }
    }
    for (lane, rate) in lanes.prefix(CommandLineLimits.topRowsMax) {
      let last = look.lastMinute[lane] ?? TopLook.Tally()
      table.append([
        Self.rate(rate.accepted), Self.rate(rate.others),
        FigureText.count(last.accepted + last.others), name(lane),
      ])
    }
    return table
  }

  private func queueTable(_ look: TopLook) -> TextTable {
    var table = TextTable([
      .init("  PRIORITY"), .init("JOBS", .right), .init("WAITING", .right),
      .init("IN WORK", .right), .init("OLDEST", .right),
    ])
    for queue in look.queues {
      table.append([
        "  \(queue.priority.rawValue)", FigureText.count(queue.jobs),
        FigureText.count(queue.waiting), FigureText.count(queue.inWork), Self.age(queue.oldestMs),
      ])
    }
    return table
  }

  private func appTable(_ look: TopLook) -> TextTable {
    var table = TextTable([.init("  CHUNKS", .right), .init("APP")])
    let apps = look.chunks.sorted { one, other in
      state.order == .busiest && one.value != other.value
        ? one.value > other.value : one.key < other.key
    }
    for (app, count) in apps.prefix(CommandLineLimits.topRowsMax) {
      table.append([FigureText.count(count), app])
    }
    return table
  }

  private func workerTable(_ look: TopLook) -> TextTable {
    var table = TextTable([
      .init("  ACCEPTED/S", .right), .init("IN FLIGHT", .right), .init("CONNECTIONS", .right),
      .init("WORKER"),
    ])
    let workers = look.workers.sorted { one, other in
      state.order == .busiest && one.acceptedPerSecond != other.acceptedPerSecond
        ? one.acceptedPerSecond > other.acceptedPerSecond : one.name < other.name
    }
    for worker in workers.prefix(CommandLineLimits.topRowsMax) {
      table.append([
        FigureText.count(worker.acceptedPerSecond), FigureText.count(worker.inFlight),
        FigureText.count(worker.connections), worker.name,
      ])
    }
    return table
  }

  private func jobTable(_ look: TopLook) -> TextTable {
    var table = TextTable([
      .init("  DONE"), .init("TOTAL", .right), .init("LEFT", .right), .init("STATE"),
      .init("APP AND JOB"),
    ])
    // As they come the running ones are first.
    let jobs =
      state.order == .busiest
      ? look.jobs : look.jobs.sorted { ($0.app, $0.id) < ($1.app, $1.id) }
    for job in jobs.prefix(CommandLineLimits.topRowsMax) {
      table.append([
        "  \(bar(job)) \(FigureText.share(job.counts.settled, of: job.total))",
        FigureText.count(job.total),
        job.leftMs(nowMs: look.nowMs).map { FigureText.duration(ms: $0) } ?? "",
        job.state.rawValue, "\(job.app) \(job.id)",
      ])
    }
    return table
  }

  private static let barColumns = 8

  private func bar(_ job: JobRecord) -> String {
    let share = job.total > 0 ? Double(job.counts.settled) / Double(job.total) : 0
    let full = Int((min(max(share, 0), 1) * Double(Self.barColumns)).rounded(.down))
    let (done, open) = terminal.isUnicode ? ("█", "░") : ("#", ".")
    return String(repeating: done, count: full)
      + String(repeating: open, count: Self.barColumns - full)
  }

  private static func rate(_ perSecond: Double) -> String {
    guard perSecond > 0, perSecond < 1e15 else { return "0" }
    return perSecond < 10
      ? "\((perSecond * 10).rounded() / 10)" : FigureText.count(Int(perSecond.rounded()))
  }

  private static func age(_ ms: Int64?) -> String { ms.map { FigureText.duration(ms: $0) } ?? "?" }
}

internal import Model
internal import Operations
internal import ProgramSetup
internal import Store
internal import Typesetting

/// A traced job for a person.
struct TraceReport {
  let job: TracedJob
  /// How many events are shown.
  let limit: Int

  var events: [TraceEvent] { job.reading.events.suffix(limit) }

  func lines(on terminal: Terminal) -> [String] {
    var lines = [TextStyle.bold.apply(heading, on: terminal)]
    let isSummary = if case .everybody = job.reading.subject { true } else { false }
    if isSummary { lines += tallyLines(on: terminal) }
    if !events.isEmpty {
      lines += ["", hidden > 0 ? "the last \(FigureText.count(events.count)) events:" : "events:"]
      lines += eventLines(on: terminal)
    }
    lines.append("")
    if !isSummary { lines += conclusionLines() }
    lines += remarks(isSummary: isSummary)
    return lines
  }

  private var hidden: Int { job.reading.matched - events.count }

  private var heading: String {
    let record = job.record
    let counts = record.counts
    let parts = [
      ("accepted", counts.accepted), ("rejected", counts.rejected),
      ("uninstalled", counts.uninstalled), ("expired", counts.expired),
      ("skipped", counts.skipped), ("failed", counts.failed), ("pending", record.pending),
      ("retries", counts.retries), ("users without an installation for it", counts.noInstallations),
    ].filter { $0.1 > 0 }.map { "\(FigureText.count($0.1)) \($0.0)" }
    let created =
      record.createdAtMs.map { ", made \(InstantText.local(ms: $0, withMilliseconds: true))" } ?? ""
    return "job \(record.id) of \(record.app): \(record.state.rawValue)\(created)"
      + (parts.isEmpty ? "" : "; " + parts.joined(separator: ", "))
  }

  private func tallyLines(on terminal: Terminal) -> [String] {
    var table = TextTable([
      .init("COUNT", .right), .init("NETWORK"), .init("WHAT"), .init("ANSWER"),
      .init("DECISION"), .init("FIRST", .right), .init("LAST", .right), .init("CAUSE"),
    ])
    for (sort, tally) in job.reading.sortedTallies {
      table.append([
        FigureText.count(tally.count), sort.network?.rawValue ?? "", sort.kind.rawValue,
        Self.answer(sort.status, sort.reason), sort.decision?.rawValue ?? "",
        relative(tally.firstMs), relative(tally.lastMs), sort.cause?.explanation ?? "",
      ])
    }
    return table.isEmpty ? [] : [""] + table.lines(on: terminal)
  }

  private func eventLines(on terminal: Terminal) -> [String] {
    var table = TextTable([
      .init("AFTER", .right), .init("NETWORK"), .init("ATTEMPT", .right), .init("WHAT"),
      .init("ANSWER"), .init("TOOK", .right), .init("DECISION"), .init("USER"), .init("LANE"),
      .init("TOKEN"),
    ])
    for event in events {
      table.append([
        relative(event.atMs), event.network?.rawValue ?? "",
        event.attempt > 0 ? String(event.attempt) : "", event.kind.rawValue,
        Self.answer(event.status, event.reason),
        event.elapsedMs.map { FigureText.duration(ms: Int64($0)) } ?? "", Self.decision(event),
        event.user, event.by, event.token,
      ])
    }
    return table.lines(on: terminal)
  }

  private func conclusionLines() -> [String] {
    job.conclusions().map { conclusion in
      let whose = conclusion.network.map { "\($0.rawValue) \(conclusion.token): " } ?? ""
      return DisplayText.printable(whose + conclusion.text(of: job))
    }
  }

  private func remarks(isSummary: Bool) -> [String] {
    var remarks: [String] = []
    if isSummary, job.reading.tallies.isEmpty {
      remarks.append("nothing is recorded of this job's pushes")
    }
    if isSummary { remarks += job.switchedOff.map { "\($0.words) is switched off" } }
    let gaps = job.reading.gaps
    remarks += gaps.map(\.text)
    if gaps.isEmpty, !job.isOld {
      remarks.append(
        job.content?.trace == true
          ? "the trace is complete: the job says trace: true"
          : "the trace is complete: of everything but plain first-attempt accepts")
    }
    if isSummary, job.isOld { remarks.append("events are kept for 48 hours: they may be gone") }
    if isSummary, job.unexplained > 0 {
      remarks.append(
        "\(FigureText.count(job.unexplained)) pushes that were not accepted have no record")
    }
    return remarks
  }

  private func relative(_ atMs: Int64) -> String {
    guard let createdAtMs = job.record.createdAtMs else {
      return InstantText.local(ms: atMs, withMilliseconds: true)
    }
    return "+" + FigureText.duration(ms: atMs - createdAtMs)
  }

  private static func answer(_ status: Int, _ reason: String) -> String {
    [status > 0 ? String(status) : "", reason].filter { !$0.isEmpty }.joined(separator: " ")
  }

  private static func decision(_ event: TraceEvent) -> String {
    var text = event.decision?.rawValue ?? ""
    if let delayMs = event.delayMs, delayMs > 0 {
      text += " in \(FigureText.duration(ms: Int64(delayMs)))"
    }
    if let cause = event.cause { text += " (\(cause.rawValue))" }
    return text
  }
}

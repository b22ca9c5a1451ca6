package import Model
internal import Operations
package import ProgramSetup
internal import Typesetting

/// The outcome of a job, for a person or a program.
package struct JobReport {
  let record: JobRecord
  /// The job's words and audience, when they were asked for.
  var sheet: JobSheet?
  /// The hindrances of a job that goes on; nil where nobody has looked.
  var hindrances: [JobHindrance]?

  package init(record: JobRecord) { self.record = record }

  /// The table that a campaign ends with.
  package func lines(on terminal: Terminal) -> [String] {
    var lines = [TextStyle.bold.apply(heading, on: terminal)]
    if record.refusal != nil {
      lines.append("  nothing was sent" + (endedAgo.map { ", refused \($0) ago" } ?? ""))
      return lines
    }
    guard record.isAdmitted else {
      lines.append("  no worker has taken it in yet, nothing was sent")
      var remarks: [String] = []
      if let durationMs { remarks.append("enqueued \(FigureText.duration(ms: durationMs)) ago") }
      if record.total > 0 { remarks.append("\(FigureText.count(record.total)) recipients") }
      if !remarks.isEmpty { lines.append("  " + remarks.joined(separator: ", ")) }
      return lines
    }
    var table = TextTable([.init(""), .init("", .right), .init("", .right)])
    for (name, count) in outcomes where count > 0 || name == "accepted" {
      table.append([
        "  " + name, FigureText.count(count), FigureText.share(count, of: record.total),
      ])
    }
    table.append(["  total", FigureText.count(record.total), ""])
    lines += table.lines(on: terminal)
    let remarks = remarks
    if !remarks.isEmpty { lines.append("  " + remarks.joined(separator: ", ")) }
    if record.state == .done, record.counts.skipped + record.counts.rejected > 0 {
      lines.append(
        "  why some were not sent: pushpool trace --job \(record.id) --app \(record.app)")
    }
    return lines
  }

  private var heading: String {
    let name = "job \(record.id) of \(record.app): \(record.state.rawValue)"
    guard record.isAdmitted, let durationMs else { return name }
    if record.state == .scheduled, let startAtMs = record.startAtMs {
      let left = FigureText.duration(ms: max(0, startAtMs - InstantText.nowMs()))
      return "\(name), starts at \(InstantText.local(ms: startAtMs)), in \(left)"
    }
    if let nextMs = record.goesOnAtMs(nowMs: InstantText.nowMs()) {
      let left = FigureText.duration(ms: nextMs - InstantText.nowMs())
      return "\(name), next local time at \(InstantText.local(ms: nextMs)), in \(left)"
    }
    let duration = FigureText.duration(ms: durationMs)
    if record.state.isFinal { return "\(name) in \(duration)" }
    return record.state == .paused ? name : "\(name) for \(duration)"
  }

  /// Names as in the record; pending last, since it is no outcome.
  private var outcomes: [(String, Int)] {
    let counts = record.counts
    return [
      ("accepted", counts.accepted), ("rejected", counts.rejected),
      ("uninstalled", counts.uninstalled), ("expired", counts.expired),
      ("skipped", counts.skipped), ("failed", counts.failed), ("pending", record.pending),
    ]
  }

  private var remarks: [String] {
    var remarks: [String] = []
    if record.counts.retries > 0 {
      remarks.append("\(FigureText.count(record.counts.retries)) retries")
    }
    if record.counts.noInstallations > 0 {
      let count = record.counts.noInstallations
      remarks.append(
        "\(FigureText.count(count)) \(count == 1 ? "user" : "users") without an installation for it"
      )
    }
    switch record.pace {
    case nil: break
    case .perSecond(let count): remarks.append("at most \(FigureText.count(count)) a second")
    case .spread(let seconds):
      remarks.append("spread over \(FigureText.duration(ms: Int64(seconds) * 1_000))")
    }
    if let perSecond { remarks.append("\(FigureText.count(perSecond)) pushes/s") }
    return remarks
  }

  private var endedAgo: String? {
    record.finishedAtMs.map { FigureText.duration(ms: max(0, InstantText.nowMs() - $0)) }
  }

  private var durationMs: Int64? {
    guard let started = record.startedAtMs ?? record.createdAtMs else { return nil }
    return (record.finishedAtMs ?? InstantText.nowMs()) - started
  }

  /// Settled pushes a second over the job's whole time, without what was not sent; nil when that is too short to say.
  var perSecond: Int? {
    let sent = record.counts.settled - record.counts.skipped
    guard let durationMs, durationMs > 0, sent > 0 else { return nil }
    return Int(Int64(sent) * 1_000 / durationMs)
  }

  /// Why an ended job is no success; nil when it is one. Dead devices, users without any, and some pushes that are
  /// skipped are everyday.
  var shortfall: String? {
    if record.state == .cancelled { return "the job was cancelled" }
    let counts = record.counts
    let missing = [
      (counts.rejected, "rejected"), (counts.expired, "expired"), (counts.failed, "failed"),
    ].filter { $0.0 > 0 }.map { "\(FigureText.count($0.0)) \($0.1)" }
    if missing.isEmpty, counts.accepted == 0, counts.skipped > 0 {
      return "nothing was sent: \(FigureText.count(counts.skipped)) skipped"
    }
    guard !missing.isEmpty else { return nil }
    return "not all of it was sent: \(missing.joined(separator: ", "))"
  }

  func show(asJSON: Bool, on console: Console) {
    if asJSON {
      guard case .object(var object) = record.json() else {
        return console.print(json: record.json())
      }
      if let hindrances { object["hindrances"] = .array(hindrances.map { .object($0.json) }) }
      for (name, value) in sheet?.members ?? [] { object[name] = value }
      return console.print(json: .object(object))
    }
    for line in lines(on: console.output) { console.print(line) }
    for hindrance in hindrances ?? [] {
      console.print("  " + hindrance.sentence(app: record.app, id: record.id))
    }
    guard let sheet else { return }
    for (name, value) in sheet.members { console.print("  \(name)  \(value.text())") }
    if sheet.content == nil { console.note(contentNote) }
  }

  private var contentNote: String {
    record.state.isFinal && record.refusal == nil
      ? "of a job to few devices the content is not kept when it has ended"
      : "the content is not kept, or cannot be read"
  }
}

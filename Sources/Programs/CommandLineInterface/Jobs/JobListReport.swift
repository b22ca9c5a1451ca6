internal import Model
internal import Operations
internal import Typesetting

/// The jobs, for a person or a program.
struct JobListReport {
  let list: JobList
  /// Epoch milliseconds.
  let nowMs: Int64

  func show(asJSON: Bool, on console: Console) {
    let records = list.open + list.ended
    if asJSON {
      for record in records { console.print(json: record.json(nowMs: nowMs)) }
      return
    }
    guard !records.isEmpty else { return console.note("no job is under way, and none has ended") }
    var table = TextTable([
      .init("STATE"), .init("APP"), .init("JOB"), .init("DONE", .right), .init("TOTAL", .right),
      .init("TIME"),
    ])
    for record in records {
      table.append([
        record.state.rawValue, record.app, record.id,
        FigureText.share(record.counts.settled, of: record.total),
        FigureText.count(record.total), time(record),
      ])
    }
    for line in table.lines(on: console.output) { console.print(line) }
    if list.openCount > OperationsLimits.listedJobsMax {
      console.note(
        "there are \(FigureText.count(list.openCount)) jobs under way: these are some of them")
    }
  }

  private func time(_ record: JobRecord) -> String {
    if let finishedAtMs = record.finishedAtMs {
      return "ended \(FigureText.duration(ms: nowMs - finishedAtMs)) ago"
    }
    if record.state == .scheduled, let startAtMs = record.startAtMs {
      return "starts in \(FigureText.duration(ms: startAtMs - nowMs))"
    }
    if let nextMs = record.goesOnAtMs(nowMs: nowMs) {
      return "goes on in \(FigureText.duration(ms: nextMs - nowMs))"
    }
    if let leftMs = record.leftMs(nowMs: nowMs) {
      return "\(FigureText.duration(ms: leftMs)) left"
    }
    return record.createdAtMs.map { "since \(FigureText.duration(ms: nowMs - $0))" } ?? ""
  }
}

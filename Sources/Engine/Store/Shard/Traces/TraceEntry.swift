internal import Model
internal import Redis

/// A batch of a job's trace as one lane wrote it.
package struct TraceEntry: Sendable {
  /// The stream entry, to read on behind.
  package let entry: String
  /// Events that were recorded before this batch, those that are gone included.
  package let eventsBefore: Int
  /// In the order in which the lane saw them.
  package let events: [TraceEvent]
  /// Lines that this version cannot read.
  package let unreadable: Int

  init(entry: String, fields: [(String, String)]) {
    let values = Dictionary(fields, uniquingKeysWith: { $1 })
    let by = values["by"] ?? ""
    var events: [TraceEvent] = []
    var unreadable = 0
    var lines = values["lines"] ?? ""
    lines.withUTF8 { text in
      for line in SegmentLines(UnsafeRawBufferPointer(text)) {
        if let event = TraceEvent(line, by: by) { events.append(event) } else { unreadable += 1 }
      }
    }
    self.entry = entry
    self.events = events
    self.unreadable = unreadable
    eventsBefore = StoredNumber.count(values["events"].flatMap { Int($0) } ?? 0)
  }
}

import Model
import Redis

/// The remains in Redis of jobs that it acknowledged and that have no record, so that a failure explains itself.
struct MissingJobs: Sendable {
  /// A sentence for each, up to so many.
  let sentences: [String]

  private static let sentencesMax = 20
  private static let textMax = 600

  /// - Parameter records: of acknowledged jobs, by number, as a drain has left them.
  init(_ stage: ChaosStage, _ records: [Int: JobRecord]) async throws {
    let missing = stage.ledger.entries.filter { $0.isAcknowledged && records[$0.number] == nil }
    guard !missing.isEmpty else {
      sentences = []
      return
    }
    let letters = try await stage.deadLetters()
    var waiting: [(stream: String, entry: ChaosStage.StreamEntry)] = []
    for priority in Priority.allCases {
      let stream = "pushpool:jobs:\(priority.rawValue)"
      waiting += try await stage.entries(stream).map { (stream, $0) }
    }
    let owners = await stage.owners()
    var sentences: [String] = []
    for entry in missing.prefix(Self.sentencesMax) {
      let name = #""id":"\#(entry.id)""#
      var found: [String] = []
      for letter in letters where letter["id"] == entry.id || letter["job"]?.contains(name) == true
      {
        let kept = letter.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value.prefix(200))" }
        found.append("dead letter " + kept.joined(separator: ", "))
      }
      for (stream, item) in waiting where item.fields["job"]?.contains(name) == true {
        let owner = owners["\(stream) \(item.id)"]
        found.append(
          "still \(stream) \(item.id), \(owner.map { "leased by \($0)" } ?? "unclaimed")")
      }
      let text =
        found.isEmpty ? "neither in a stream nor a dead letter" : found.joined(separator: "; ")
      sentences.append("\(entry.id) has no record: \(text.prefix(Self.textMax))")
    }
    if missing.count > Self.sentencesMax {
      sentences.append("\(missing.count - Self.sentencesMax) more jobs have no record")
    }
    self.sentences = sentences
  }
}

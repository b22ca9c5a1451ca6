internal import Model
internal import Store
internal import Typesetting

/// The counts of an import so far.
package struct ImportTally: Equatable, Sendable {
  var created = 0
  var updated = 0
  var moved = 0
  var refused = 0
  /// The noun for what the input consists of.
  var noun = "line"
  /// Bindings that made room for others of their user.
  var evicted = 0
  var subscriptions = 0
  /// Subscriptions that were news.
  var subscribed = 0

  var installed: Int { created + updated + moved }
  var done: Int { installed + subscriptions }

  /// `10,000 installations and 300 subscriptions`
  var doneText: String {
    let text = "\(FigureText.count(installed)) installations"
    guard subscriptions > 0 else { return text }
    return "\(text) and \(FigureText.count(subscriptions)) subscriptions"
  }

  mutating func add(_ answer: ImportPipeline.Answer, of batch: ImportBatch) {
    if let installed = answer.installed {
      created += installed.created
      updated += installed.updated
      moved += installed.moved
      evicted += installed.evicted
    }
    subscriptions += batch.subscriptions.count
    subscribed += answer.subscribed
  }

  func json(elapsedMs: Int64) -> JSONValue {
    .object([
      "created": .integer(created), "updated": .integer(updated), "moved": .integer(moved),
      "refused": .integer(refused), "evicted": .integer(evicted),
      "subscriptions": .integer(subscriptions), "subscribed": .integer(subscribed),
      "elapsed_ms": .integer(elapsedMs),
    ])
  }

  /// `imported 10,000 installations in 1.2 s (8,300/s): 9,990 created, 10 updated`
  package func sentence(elapsedMs: Int64) -> String {
    var text =
      "imported \(doneText) in "
      + FigureText.duration(ms: elapsedMs)
    if elapsedMs > 0 {
      text += " (\(FigureText.count(Int(Int64(done) * 1_000 / elapsedMs)))/s)"
    }
    let parts = [("created", created), ("updated", updated), ("moved to another user", moved)]
      .filter { $0.1 > 0 }.map { "\(FigureText.count($0.1)) \($0.0)" }
    if !parts.isEmpty { text += ": " + parts.joined(separator: ", ") }
    if evicted > 0 {
      text +=
        "; \(FigureText.count(evicted)) older ones removed, a user has at most "
        + "\(Limits.installationsPerUserMax)"
    }
    guard refused > 0 else { return text }
    return text + "; \(FigureText.count(refused)) \(refused == 1 ? noun : noun + "s") refused"
  }
}

package import Model

/// One thing that the doctor looked at: how it is, and what to do where it is not well.
package struct DoctorFinding: Sendable, Equatable {
  package enum Severity: String, Sendable, CaseIterable {
    /// All is well.
    case good = "ok"
    /// Worth knowing, and nothing to do.
    case note
    /// Something goes wrong sooner or later: it needs a person.
    case warning
    /// Something does not work: it needs a person now.
    case error
  }

  package let severity: Severity
  /// The thing: `configuration`, `redis` or `redis eu`, or an app with its network, such as `shop apns production`.
  package let subject: String
  /// One sentence without its full stop. It may hold words of others.
  package let sentence: String
  /// The thing to do; nil where there is nothing to do, or where the sentence says it.
  package let remedy: String?

  package init(
    _ severity: Severity, _ subject: String, _ sentence: String, remedy: String? = nil
  ) {
    self.severity = severity
    self.subject = subject
    self.sentence = sentence
    self.remedy = remedy
  }

  /// Parts a text of the form "what is wrong; what to do" at the last separator.
  init(_ severity: Severity, _ subject: String, _ text: String, partedBy separator: String) {
    var start: String.Index?
    var rest = text[...]
    while let range = rest.firstRange(of: separator) {
      start = range.lowerBound
      rest = rest[range.upperBound...]
    }
    guard let start else {
      self.init(severity, subject, text)
      return
    }
    self.init(severity, subject, String(text[..<start]), remedy: String(rest))
  }

  /// Returns the finding about Redis as one about the Redis of a shard, where there are others.
  func of(_ shard: ShardID) -> DoctorFinding {
    shard.isOnly
      ? self : DoctorFinding(severity, "\(subject) \(shard.name)", sentence, remedy: remedy)
  }

  /// Whether somebody has to do something.
  package var needsPerson: Bool { severity == .warning || severity == .error }

  package var json: JSONValue {
    .object([
      "severity": .string(severity.rawValue), "subject": .string(subject),
      "message": .string(sentence), "remedy": remedy.map { .string($0) } ?? .null,
    ])
  }
}

/// One order of a producer: send this content to this audience. Its priority is the stream it came by.
package struct Job: Sendable, Equatable {
  /// Unique per app; nil lets the store give one.
  package let id: String?
  package let app: String
  package let audience: Audience
  package let content: JobContent
  /// When it is to be sent, in epoch milliseconds; nil for at once.
  package let deliverAtMs: Int64?
  /// At which time of their own clocks installations receive it; nil for all at once.
  package let deliverLocal: LocalDelivery?

  package let pace: JobPace?
  /// How long its record is kept after its end; nil for what the configuration says.
  package let retentionSeconds: Int?
  /// The seconds for which it lives from its start on; nil for a job that is sent at once, and for one whose expiry is an instant.
  /// The content has the instant that they come to.
  package internal(set) var livesSeconds: Int?

  package init(
    id: String?, app: String, audience: Audience, content: JobContent, deliverAtMs: Int64? = nil,
    deliverLocal: LocalDelivery? = nil, pace: JobPace? = nil, retentionSeconds: Int? = nil
  ) {
    self.id = id
    self.app = app
    self.audience = audience
    self.content = content
    self.deliverAtMs = deliverAtMs
    self.deliverLocal = deliverLocal
    self.pace = pace
    self.retentionSeconds = retentionSeconds
  }
}

extension Job {
  /// Returns the app and id that a job which breaks the rules gives itself, for whoever looks for it; empty where that
  /// cannot be read.
  package static func name(in text: [UInt8]) -> (app: String, id: String) {
    let object = (try? JSONParser().parse(text))?.objectValue
    // Not as it stands: both go into keys, logs and onto terminals.
    func read(_ member: String, _ check: (String) throws(InvalidField) -> Void) -> String {
      guard let value = object?[member]?.stringValue, (try? check(value)) != nil else { return "" }
      return value
    }
    return (read("app", TextRule.checkApp), read("id", TextRule.checkJobID))
  }
}

/// A user's wish to receive what is sent to a topic of an app. The user need not have a device.
package struct Subscription: Sendable, Equatable {
  package let app: String
  package let topic: String
  package let user: String

  package init(app: String, topic: String, user: String) {
    self.app = app
    self.topic = topic
    self.user = user
  }
}

extension Subscription {
  /// The names that its document may have.
  package static let fields = ["app", "topic", "user"]

  /// Decodes one line of NDJSON.
  package init(bytes: UnsafeBufferPointer<UInt8>) throws(InvalidField) {
    try self.init(json: try JSONValue(document: bytes))
  }

  package init(bytes: [UInt8]) throws(InvalidField) {
    self = try bytes.withUnsafeBufferPointer { (buffer) throws(InvalidField) in
      try Subscription(bytes: buffer)
    }
  }

  package init(json: JSONValue) throws(InvalidField) {
    let reader = try FieldReader(json, at: "", known: Self.fields)
    let app = try reader.requiredString("app", why: "name the app of the configuration")
    do { try TextRule.checkApp(app) } catch { throw error.under("/app") }
    let topic = try reader.requiredString("topic", why: "name the topic")
    do { try TextRule.checkTopic(topic) } catch { throw error.under("/topic") }
    let user = try reader.requiredString("user", why: "name who subscribes")
    do { try TextRule.checkUser(user) } catch { throw error.under("/user") }
    self.init(app: app, topic: topic, user: user)
  }

  /// Returns the JSON that `init(bytes:)` reads.
  package func json() -> JSONValue {
    .object(["app": .string(app), "topic": .string(topic), "user": .string(user)])
  }
}

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

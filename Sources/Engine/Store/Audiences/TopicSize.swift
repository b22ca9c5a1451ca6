/// How many users subscribe to a topic.
package struct TopicSize: Sendable, Equatable {
  package let topic: String
  package let users: Int
}

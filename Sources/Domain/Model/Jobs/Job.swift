/// One order of a producer: send this content to this audience. Its priority is the stream it came by.
package struct Job: Sendable, Equatable {
  /// Unique per app; nil lets the store give one.
  package let id: String?
  package let app: String
  package let audience: Audience
  package let content: JobContent

  package init(id: String?, app: String, audience: Audience, content: JobContent) {
    self.id = id
    self.app = app
    self.audience = audience
    self.content = content
  }
}

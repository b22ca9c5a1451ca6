/// The notification that a job shows on every network.
package struct Notification: Sendable, Equatable {
  /// One entry of the custom data.
  package struct DataEntry: Sendable, Equatable {
    package let name: String
    package let value: String

    package init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  package var title: String?
  package var body: String?
  package var badge: Badge?
  package var sound: String?
  /// The set of actions in the app (APNs `category`), passed on as given.
  package var category: String?
  package var threadID: String?
  /// An https URL.
  package var image: String?
  package var contentAvailable = false
  package var mutableContent = false
  /// In the order of the names' bytes.
  package var data: [DataEntry]

  package init(
    title: String? = nil, body: String? = nil, badge: Badge? = nil, sound: String? = nil,
    category: String? = nil, threadID: String? = nil, image: String? = nil, data: [DataEntry] = []
  ) {
    self.title = title
    self.body = body
    self.badge = badge
    self.sound = sound
    self.category = category
    self.threadID = threadID
    self.image = image
    self.data = data
  }

  /// Whether there is something to show or to do.
  package var hasContent: Bool {
    title != nil || body != nil || badge != nil || sound != nil || contentAvailable
      || !data.isEmpty
  }
}

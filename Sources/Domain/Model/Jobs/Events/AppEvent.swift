/// A change of data that a `push_to_app` job tells an app of; nothing of it is shown to anybody.
package struct AppEvent: Sendable, Equatable {
  package enum BucketType: String, Sendable, Hashable, CaseIterable {
    case readWrite = "rw"
    case sync
  }

  /// A set of data objects in the app's backend: what has changed, or what holds the object that has.
  package var bucketID: String
  package var bucketType: BucketType
  /// The event, in the backend's words, for instance `DATA_OBJECT_UPDATED`.
  package var type: String
  /// Nil when the bucket itself has changed.
  package var objectID: String?
  /// The app as its backend calls it, which need not be the job's `app`.
  package var scopeApp: String
  package var scope: AppEventScope
  /// Who has caused the change, when there is somebody.
  package var sender: String?
  /// When it happened, epoch milliseconds; nil for when the job was created.
  package var whenMs: Int64?

  package init(
    bucketID: String, bucketType: BucketType, type: String, objectID: String? = nil,
    scopeApp: String, scope: AppEventScope = .app, sender: String? = nil, whenMs: Int64? = nil
  ) {
    self.bucketID = bucketID
    self.bucketType = bucketType
    self.type = type
    self.objectID = objectID
    self.scopeApp = scopeApp
    self.scope = scope
    self.sender = sender
    self.whenMs = whenMs
  }

  /// The fields of the event and their texts, in the order of `AppEventField`; the time is not among them.
  package var texts: [(field: AppEventField, text: String)] {
    var texts: [(field: AppEventField, text: String)] = [
      (.bucketID, bucketID), (.bucketType, bucketType.rawValue), (.type, type),
    ]
    if let objectID { texts.append((.objectID, objectID)) }
    texts.append((.scopeApp, scopeApp))
    texts.append((.scopeType, scope.kind.rawValue))
    if let field = scope.kind.owner, let owner = scope.owner { texts.append((field, owner)) }
    if let sender { texts.append((.sender, sender)) }
    return texts
  }
}

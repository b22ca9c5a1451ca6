/// The fields of an event, by the names that producers, APNs and the other networks know them by. By these a receiver
/// tells an event from a notification.
package enum AppEventField: Sendable, CaseIterable {
  case bucketID, bucketType, type, objectID, scopeApp, scopeType, scopeUser, scopeGroup, scopeThing
  case sender, when

  /// In a job's `event`.
  package var name: String {
    switch self {
    case .bucketID: "bucket_id"
    case .bucketType: "bucket_type"
    case .type: "type"
    case .objectID: "object_id"
    case .scopeApp: "object_scope_app_id"
    case .scopeType: "object_scope_type"
    case .scopeUser: "object_scope_user_id"
    case .scopeGroup: "object_scope_group_id"
    case .scopeThing: "object_scope_thing_id"
    case .sender: "sender"
    case .when: "when"
    }
  }

  /// In a payload of APNs, where each byte counts.
  package var shortName: String {
    switch self {
    case .bucketID: "bi"
    case .bucketType: "bt"
    case .type: "t"
    case .objectID: "oi"
    case .scopeApp: "sa"
    case .scopeType: "st"
    case .scopeUser: "su"
    case .scopeGroup: "sg"
    case .scopeThing: "sth"
    case .sender: "s"
    case .when: "w"
    }
  }

  /// On the other networks.
  package var longName: String {
    switch self {
    case .bucketID: "bucketID"
    case .bucketType: "bucketType"
    case .type: "type"
    case .objectID: "objectID"
    case .scopeApp: "objectScopeAppID"
    case .scopeType: "objectScopeType"
    case .scopeUser: "objectScopeUserID"
    case .scopeGroup: "objectScopeGroupID"
    case .scopeThing: "objectScopeThingID"
    case .sender: "sender"
    case .when: "when"
    }
  }
}

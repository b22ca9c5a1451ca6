package import Model
package import Store

extension InstallResult {
  /// Returns what was done, the installation's object id, and the user who had the token before.
  package func json() -> JSONValue {
    .object([
      "status": .string(status.rawValue), "object_id": .string(objectID),
      "previous_user": previousUser.isEmpty ? .null : .string(previousUser),
      "evicted": .integer(evicted),
    ])
  }
}

internal import Model

/// Changes to a document, as another document tells them (JSON Merge Patch, RFC 7396).
enum MergePatch {
  /// Returns the target with the changes of a patch: members that are null are removed, objects go into one another, and
  /// everything else takes the place of what was there. As deep as the patch, which its parser has bounded.
  static func apply(_ patch: JSONValue, to target: JSONValue?) -> JSONValue {
    guard case .object(let changes) = patch else { return patch }
    var result = target?.objectValue ?? JSONObject()
    for change in changes.members {
      result[change.name] =
        change.value == .null ? nil : apply(change.value, to: result[change.name])
    }
    return .object(result)
  }
}

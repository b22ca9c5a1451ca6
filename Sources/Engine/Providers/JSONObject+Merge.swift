import Model

extension JSONObject {
  /// Lays `other` over this object: objects are merged member by member, everything else is replaced.
  mutating func merge(_ other: JSONObject) {
    for member in other.members {
      if case .object(let theirs) = member.value, case .object(var ours)? = self[member.name] {
        ours.merge(theirs)
        self[member.name] = .object(ours)
      } else {
        self[member.name] = member.value
      }
    }
  }
}

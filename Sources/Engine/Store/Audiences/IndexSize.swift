/// How many users are in an index.
package struct IndexSize: Sendable, Equatable {
  package let index: AudienceIndex
  package let users: Int
}

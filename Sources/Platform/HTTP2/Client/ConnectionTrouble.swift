/// One connection of several that had nothing but trouble, while the others had none, and is replaced.
package struct ConnectionTrouble: Equatable {
  /// How the last of its requests ended.
  package enum Kind: Equatable {
    case status(Int)
    case unanswered
    case refused
  }

  package let kind: Kind
  /// How many requests in a row.
  package let requests: Int
  /// How many connections there are, this one included.
  package let connections: Int
}

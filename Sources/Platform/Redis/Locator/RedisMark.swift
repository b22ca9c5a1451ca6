/// A key by which a server tells which place it is. A connection to one that says it is another place is not used: neither the
/// first one, nor any that is made later, when an address may lead elsewhere.
package struct RedisMark: Sendable {
  let key: String
  let value: String
  let refusal: @Sendable (String) -> String
  let onMissing: @Sendable () -> String?

  /// - Parameters:
  ///   - key: of a string.
  ///   - value: what the key holds.
  ///   - refusal: the sentence about a server where it holds something else.
  ///   - onMissing: called each time a server does not have it, or does not show it, as to a user without the right. The sentence
  ///     why that one is not used; nil when it will do.
  package init(
    key: String, value: String, refusal: @escaping @Sendable (_ found: String) -> String,
    onMissing: @escaping @Sendable () -> String? = { nil }
  ) {
    self.key = key
    self.value = value
    self.refusal = refusal
    self.onMissing = onMissing
  }

  /// Why a server is refused that answers so; nil when it is not.
  func refusal(of reply: RedisReply) -> RedisError? {
    guard !reply.isNull else { return refusalOfNone() }
    let found = reply.string
    return found.utf8.elementsEqual(value.utf8) ? nil : .unsuitable(reason: refusal(found))
  }

  /// Why a server is refused that does not tell the mark; nil when it is not.
  func refusalOfNone() -> RedisError? { onMissing().map { .unsuitable(reason: $0) } }
}

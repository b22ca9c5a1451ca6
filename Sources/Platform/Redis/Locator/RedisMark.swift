/// A key by which a server tells which place it is. A connection to one that says it is another place is not used: neither the
/// first one, nor any that is made later, when an address may lead elsewhere.
package struct RedisMark: Sendable {
  let key: String
  let value: String
  let refusal: @Sendable (String) -> String

  /// - Parameters:
  ///   - key: of a string. A server without it will do, as does one that does not let the user read it.
  ///   - value: what the key holds.
  ///   - refusal: the sentence about a server where it holds something else.
  package init(
    key: String, value: String, refusal: @escaping @Sendable (_ found: String) -> String
  ) {
    self.key = key
    self.value = value
    self.refusal = refusal
  }

  /// Why a server is refused that answers so; nil when it is not.
  func refusal(of reply: RedisReply) -> RedisError? {
    guard !reply.isNull else { return nil }
    let found = reply.string
    return found.utf8.elementsEqual(value.utf8) ? nil : .unsuitable(reason: refusal(found))
  }
}

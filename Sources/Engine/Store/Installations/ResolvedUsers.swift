internal import Redis

/// The installations of the users that were asked for, in their order; borrowed, valid during the callback.
package struct ResolvedUsers {
  private let reply: RedisReply

  init(_ reply: RedisReply) { self.reply = reply }

  package var count: Int { reply.count }

  /// Empty for a user without installations, which is a normal outcome and no error.
  package subscript(index: Int) -> BindingLines { BindingLines(text(index)) }

  /// Returns the text of a user's installations as it stands in Redis.
  package func text(_ index: Int) -> UnsafeRawBufferPointer { reply[index].bytes }
}

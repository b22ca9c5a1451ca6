/// A server's word for what it is: the reply to HELLO (redis.io, "HELLO"), which is answered whatever the rights of the user.
struct ServerIdentity: Equatable {
  enum Mode: String {
    case standalone, cluster, sentinel
  }

  /// Nil when it does not say, or in a word that nobody knows.
  var mode: Mode?
  var isReplica = false

  /// - Parameter reply: names and values in turn; of anything else nothing is known.
  init(_ reply: RedisReply) {
    for index in stride(from: 0, to: reply.count - 1, by: 2) {
      switch reply[index].string {
      case "mode": mode = Mode(rawValue: reply[index + 1].string)
      case "role": isReplica = ["replica", "slave"].contains(reply[index + 1].string)
      default: break
      }
    }
  }

  init(mode: Mode?, isReplica: Bool = false) {
    self.mode = mode
    self.isReplica = isReplica
  }
}

extension RedisError {
  static let tooManyClients = "max number of clients"

  /// Advice about a server that cannot do what it is asked as it is now; nil for any other error. The messages are
  /// those of Redis 7.0 and 8.2, and of Valkey 9.1.
  package var remedy: String? {
    guard case .server(let code, let message) = self else { return nil }
    switch code {
    case "OOM":
      return "Redis is full: raise maxmemory (by redis-cli CONFIG SET maxmemory, and in its "
        + "configuration), or delete what is not needed"
    case "MISCONF" where message.contains("AOF"):
      return "Redis cannot write to its disk, and its log says why: make room or give it the right "
        + "to its folder; it goes on by itself"
    case "MISCONF":
      return "Redis cannot write to its disk, and its log says why: make room or give it the right "
        + "to its folder, then try again with redis-cli BGSAVE"
    case "NOREPLICAS":
      return
        "too few replicas are connected for min-replicas-to-write: start them again, or lower it"
    case "READONLY": return "that is a replica: name the primary in the URL"
    case "MASTERDOWN":
      return "that is a replica without its primary: name the primary in the URL"
    case "LOADING": return "wait until it has read its data"
    case "BUSY":
      return "a script runs for too long there: end it with redis-cli SCRIPT KILL or FUNCTION KILL"
    case "CLUSTERDOWN": return "no node serves these keys: see redis-cli CLUSTER INFO"
    case "ERR" where message.hasPrefix("DB index is out of range"),
      "ERR" where message.hasPrefix("invalid DB index"),
      "ERR" where message.hasPrefix("SELECT is not allowed"):
      return "leave out the number at the end of the URL, which names a database, or raise "
        + "databases in the configuration of Redis"
    case "ERR" where message.hasPrefix(Self.tooManyClients):
      return "raise maxclients, or end connections that nobody needs (redis-cli CLIENT LIST)"
    default: return nil
    }
  }

  /// The error, and what to do about it where that is known.
  package func described(with remedy: String?) -> String {
    guard let remedy else { return description }
    // Some messages of Redis are whole sentences.
    guard description.hasSuffix(".") else { return "\(description); \(remedy)" }
    return "\(description) \(remedy.prefix(1).uppercased())\(remedy.dropFirst())"
  }
}

import LocalServices
import Redis
import Store
import TestSupport
import Testing

/// What is said of a refusal that is about who the caller is.
@Suite struct DocumentedUserTests {
  @Test("every user that a message names stands in the document")
  func documented() {
    let text = Document.text("docs/reference/redis.md")
    let names = text.split(separator: "\n").filter { $0.hasPrefix("user pushpool-") }
      .compactMap { $0.split(separator: " ").dropFirst().first.map { String($0) } }
    #expect(Set(names) == Set(DocumentedUser.allCases.map(\.rawValue)))
  }

  @Test("a message says which right lacks and who has it, or how to log in")
  func remedies() {
    for (code, message, text) in [
      ("NOAUTH", "Authentication required.", "redis://pushpool-worker:PASSWORD@HOST"),
      ("WRONGPASS", "invalid username-password pair", "correct the user or the password"),
      (
        "NOPERM", "this user has no permissions to run the 'xadd' command",
        "the right +xadd is missing: the documented user pushpool-worker has it"
      ),
      (
        "NOPERM", "User ann has no permissions to run the 'function|load' command",
        "the right +function|load is missing"
      ),
      (
        "NOPERM", "No permissions to access a key (the key pushpool:user:*)",
        "the right ~pushpool:user:* is missing"
      ),
      ("NOPERM", "No permissions to access a channel", "a right is missing"),
      (
        "ERR",
        "The user executing the script can't access at least one of the keys mentioned in the command arguments script: f, on @user_function:3.",
        "A right is missing"
      ),
      (
        "ERR", "ACL failure in script: No permissions to access a key script: on @user_function:3.",
        "A right is missing"
      ),
      (
        "ERR",
        "ACL failure in script: User ann has no permissions to run the 'set' command script: f, on @user_function:2.",
        "A right is missing"
      ),
    ] {
      let explained = DocumentedUser.worker.explain(.server(code: code, message: message))
      #expect(explained.contains(text), "\(explained)")
    }
    let load = RedisError.server(
      code: "NOPERM", message: "User ann has no permissions to run the 'function|load' command")
    #expect(DocumentedUser.reader.explain(load).contains("user pushpool-operator has it"))
    #expect(DocumentedUser.worker.remedy(for: .server(code: "BUSYGROUP", message: "x")) == nil)
    #expect(DocumentedUser.worker.remedy(for: .timeout) == nil)
  }

  @Test("a message says what to do about a Redis that cannot do what it is asked")
  func states() {
    for (code, message, text) in [
      ("OOM", "command not allowed when used memory > 'maxmemory'.", "raise maxmemory"),
      ("MISCONF", "Redis is configured to save RDB snapshots, but", "redis-cli BGSAVE"),
      ("MISCONF", "Errors writing to the AOF file: No space left on device", "its log says why"),
      ("NOREPLICAS", "Not enough good replicas to write.", "min-replicas-to-write"),
      ("READONLY", "You can't write against a read only replica.", "name the primary"),
      ("LOADING", "Redis is loading the dataset in memory", "wait until it has read its data"),
      ("MASTERDOWN", "Link with MASTER is down", "name the primary"),
      ("ERR", "DB index is out of range", "number at the end of the URL"),
      ("ERR", "SELECT is not allowed in cluster mode", "number at the end of the URL"),
      ("ERR", "max number of clients reached", "raise maxclients"),
      ("OOM", "allow-oom flag is not set on the function", "raise maxmemory"),
    ] {
      for user in DocumentedUser.allCases {
        let explained = user.explain(.server(code: code, message: message))
        #expect(explained.contains(code) && explained.contains(message), "\(explained)")
        #expect(explained.contains(text), "\(explained)")
      }
    }
  }

  @Test("a refusal inside a function is about the caller's rights as well")
  func insideFunctions() {
    for (message, text) in [
      (
        "The user executing the script can't run this command or subcommand script: "
          + "pushpool_x_1, on @user_function:7.",
        "right is missing: the documented user pushpool-reader has it"
      ),
      (
        "The user executing the script can't access at least one of the keys mentioned in the "
          + "command arguments script: pushpool_x_1, on @user_function:7.",
        "the documented user pushpool-reader has it"
      ),
    ] {
      for code in ["ERR", "NOPERM"] {
        let explained = DocumentedUser.reader.explain(.server(code: code, message: message))
        #expect(explained.contains(text), "\(explained)")
      }
    }
  }
}

internal import Model
internal import Redis

/// Users whose installations are asked for by one command, of any apps.
package struct UserQuestion {
  private let keys: Keys
  /// The prefix of the app's keys that was asked for last: users of one app come together.
  private var app: (name: String, prefix: String)?
  private(set) var command: RedisCommand
  /// How many were added.
  package private(set) var count = 0

  /// - Parameter bytes: what room to make for them.
  init(keys: Keys, reservingBytes bytes: Int) {
    self.keys = keys
    command = RedisCommand(reservingBytes: bytes)
    command.append("MGET")
  }

  /// - Parameter users: their ids, borrowed during the call; with those before at most `StoreLimits.resolveUsersMax`.
  package mutating func add(_ users: some Sequence<UnsafeRawBufferPointer>, app: String) {
    if self.app?.name != app { self.app = (app, keys.userPrefix(app: app)) }
    guard var prefix = self.app?.prefix else { return }
    prefix.withUTF8 { prefix in
      for user in users {
        command.append(UnsafeRawBufferPointer(prefix), then: user)
        count += 1
      }
    }
    precondition(count <= StoreLimits.resolveUsersMax, "too many users at once")
  }
}

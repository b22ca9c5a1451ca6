package import Model
package import Redis

/// The alarms that operators are to look at. An alarm ends when it is cleared, or by itself when nobody renews it.
package struct AlarmStore {
  let functions: StoreFunctions

  /// Raises an alarm, or renews it.
  /// - Parameters:
  ///   - field: names it in the fleet, see `AlarmKind.field`.
  ///   - by: who raises it; of several the last one counts.
  package func raise(
    _ field: String, by: String, lifeMs: UInt64, message: String
  ) async throws(RedisError) {
    let command = functions.call("raise_alarm", field, by, String(lifeMs), message)
    _ = try await functions.run(command) { $0.string }
  }

  /// Ends an alarm, unless somebody else has renewed it since.
  package func clear(_ field: String, by: String) async throws(RedisError) {
    _ = try await functions.run(functions.call("clear_alarm", field, by), decode: decodeInteger)
  }

  /// The alarms that stand at this instant of the server's clock, oldest first. Needs no functions.
  package func current(nowMs: Int64) async throws(RedisError) -> [Alarm] {
    let pairs = try await functions.connection.call(
      RedisCommand("HGETALL", functions.keys.alarms)
    ).pairs
    return pairs.compactMap { Alarm(field: $0, json: $1) }
      .filter { $0.untilMs > nowMs }.sorted { ($0.atMs, $0.field) < ($1.atMs, $1.field) }
  }
}

/// Something that an operator is to look at.
package struct Alarm: Sendable, Equatable {
  /// See `AlarmKind.field`.
  package let field: String
  /// Since when, epoch milliseconds.
  package let atMs: Int64
  /// When it ends unless it is renewed, epoch milliseconds.
  package let untilMs: Int64
  /// A sentence.
  package let message: String
  /// The shard that it is about; nil when it is about a worker as a whole, or the fleet has one shard.
  package private(set) var shard: ShardID?
  /// The message, with the name of the shard in front of it where there are others.
  package var sentence: String { shard.map { "shard \($0.name): \(message)" } ?? message }

  init(field: String, atMs: Int64, untilMs: Int64, message: String) {
    self.field = field
    self.atMs = atMs
    self.untilMs = untilMs
    self.message = message
  }

  /// An alarm that no store can keep: a shard cannot be asked.
  package init(ofAbsentShard name: String, sinceMs: Int64, message: String) {
    self.init(field: "shard|\(name)", atMs: sinceMs, untilMs: sinceMs, message: message)
  }

  /// Returns the alarm as a clock tells of it that is so far behind the one by which it was raised.
  package func byClock(behindMs: Int64) -> Alarm {
    var alarm = Alarm(
      field: field, atMs: StoredNumber.instantMs(atMs &- behindMs),
      untilMs: StoredNumber.instantMs(untilMs &- behindMs), message: message)
    alarm.shard = shard
    return alarm
  }

  /// Returns the alarm as one of a shard, where there are others.
  package func of(_ shard: ShardID) -> Alarm {
    guard !shard.isOnly, AlarmKind(field: field)?.isOfProcess != true else { return self }
    var alarm = self
    alarm.shard = shard
    return alarm
  }

  /// Whether both are one alarm, which a worker may have raised in several shards.
  package func isSame(as other: Alarm) -> Bool { field == other.field && shard == other.shard }

  /// Nil when the JSON is nothing that the functions wrote.
  init?(field: String, json: String) {
    guard let object = (try? JSONParser().parse(Array(json.utf8)))?.objectValue,
      let atMs = object["at"]?.int64Value, let untilMs = object["until"]?.int64Value,
      let message = object["message"]?.stringValue
    else { return nil }
    self.field = field
    self.atMs = StoredNumber.instantMs(atMs)
    self.untilMs = StoredNumber.instantMs(untilMs)
    self.message = message
  }
}

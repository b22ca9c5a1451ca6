package import Model

/// Every key of the store, under one prefix. Functions/Library/keys.lua spells the same keys in one table, and a
/// test compares the two. With a hash tag as the prefix (`{pushpool}`) all keys share one cluster slot.
package struct Keys: Sendable {
  package let prefix: String

  package init(prefix: String) { self.prefix = prefix }

  // MARK: Public (docs/reference/redis.md)

  /// STREAM that producers add jobs to, field `job`.
  package func jobs(_ priority: Priority) -> String { "\(prefix):jobs:\(priority.rawValue)" }

  /// HASH: a job's record.
  package func job(app: String, id: String) -> String { "\(prefix):job:\(app):\(id)" }

  /// STREAM: what was recorded of a job's pushes.
  package func trace(app: String, job: String) -> String { "\(prefix):trace:\(app):\(job)" }

  /// STREAM of auto-uninstalled tokens.
  package var uninstalled: String { "\(prefix):uninstalled" }

  /// STREAM of finished jobs.
  package var finished: String { "\(prefix):finished" }

  /// STREAM of what was given up on.
  package var dead: String { "\(prefix):dead" }

  /// STRING: the original of a dead letter, when it is large; for a moment that of a job that is being refused, by its
  /// `JobSource`.
  package func letter(_ entry: String) -> String { "\(prefix):letter:\(entry)" }

  /// HASH of one UTC minute: `<app>|<network>|<outcome>` → count.
  package func metrics(_ minute: String) -> String { "\(prefix):metrics:\(minute)" }

  /// HASH: `<app>|<network>|<outcome>` → count, since the key began; and names without a `|`.
  package var totals: String { "\(prefix):totals" }

  /// HASH of one UTC minute: `<network>|<upper bound in ms>` → count.
  package func latency(_ minute: String) -> String { "\(prefix):latency:\(minute)" }

  /// STREAM: an entry each 10 s.
  package var timeline: String { "\(prefix):timeline" }

  /// ZSET: worker → last beat.
  package var workers: String { "\(prefix):workers" }

  /// STRING: since when some worker or other has always beaten, epoch milliseconds.
  var workersSince: String { "\(prefix):workers_since" }

  /// HASH: what a worker says of itself.
  package func worker(_ worker: String) -> String { "\(prefix):worker:\(worker)" }

  /// HASH: what operators are to look at, `<kind>|<app>|<network>|<environment>` → JSON.
  package var alarms: String { "\(prefix):alarms" }

  /// HASH: what is switched off, a `KillSwitch` each.
  package var switches: String { "\(prefix):switches" }

  /// STREAM: what operators did.
  package var acts: String { "\(prefix):acts" }

  /// Never exists: the second key of calls of the functions for registration (Registration/guard.lua).
  package var guardKey: String { "\(prefix):guard" }

  /// The keys that the program's own calls of these functions declare. Without a hash tag the prefix is of no cluster, and the
  /// functions of an older version take it alone.
  package var registrationKeys: [String] {
    prefix.contains("{") ? [prefix, guardKey] : [prefix]
  }

  // MARK: Internal

  /// HASH: what a network answered within a UTC minute; `place` is `<network>|<environment>`.
  func tally(app: String, place: String, minute: String) -> String {
    "\(prefix):tally:\(app):\(place):\(minute)"
  }

  /// STREAM of work units.
  package func chunks(_ priority: Priority) -> String { "\(prefix):chunks:\(priority.rawValue)" }

  /// STRING: canonical content of a job.
  package func content(app: String, id: String) -> String { "\(prefix):content:\(app):\(id)" }

  /// LIST: chunks that a paused job keeps.
  func parked(app: String, id: String) -> String { "\(prefix):parked:\(app):\(id)" }

  /// STRING: the recipients of one chunk, a line each.
  package func segment(_ segment: String, source: String) -> String {
    "\(prefix):segment:\(segment):\(source)"
  }

  /// HASH: the badges that a segment's chunk has given, network, token and user with tabs between → badge.
  func badges(_ segment: String, source: String) -> String {
    "\(prefix):badges:\(segment):\(source)"
  }

  /// HASH: the same, of a chunk that became a dead letter.
  func letterBadges(_ entry: String) -> String { "\(prefix):letter_badges:\(entry)" }

  /// STRING: which lines of a segment are done, as a bitmap.
  func done(_ segment: String, source: String) -> String { "\(prefix):done:\(segment):\(source)" }

  /// LIST: marks of the members of a job's `users_key` that were read, an element each read.
  func marks(source: String) -> String { "\(prefix):marks:\(source)" }

  /// SET: marks of members that were read, to be asked when reading began again.
  func read(source: String) -> String { "\(prefix):read:\(source)" }

  /// STRING: the installations of a user, a `BindingLine` each.
  package func user(app: String, user: String) -> String { userPrefix(app: app) + user }

  /// Returns the beginning of every `user` key of an app.
  func userPrefix(app: String) -> String { "\(prefix):user:\(app):" }

  /// ZSET: the bounds of the blocks of an index.
  func index(_ index: AudienceIndex, app: String) -> String {
    "\(prefix):index:\(app):\(index.name)"
  }

  /// ZSET: users in an index, from a bound on.
  func block(_ bound: String, of index: AudienceIndex, app: String) -> String {
    "\(prefix):block:\(app):\(index.name):\(bound)"
  }

  /// HASH: index → users.
  func audiences(app: String) -> String { "\(prefix):audiences:\(app)" }

  /// LIST: bindings that are gone, whose users are yet to leave channels.
  var leaving: String { "\(prefix):leaving" }

  /// HASH: the apps whose index of all is whole.
  var indexed: String { "\(prefix):indexed" }

  /// HASH: the full record of an installation.
  package func token(_ network: Network, app: String, token: String) -> String {
    tokenPrefix(network, app: app) + token
  }

  /// Returns the beginning of every `token` key of an app's network.
  func tokenPrefix(_ network: Network, app: String) -> String {
    tokens(network) + "\(app):"
  }

  /// Returns the beginning of every `token` key of a network.
  func tokens(_ network: Network) -> String { "\(prefix):token:\(network.rawValue):" }

  /// STRING: a credential that the fleet shares, a secret.
  func credential(_ name: String) -> String { "\(prefix):credential:\(name)" }

  /// HASH: id → a key of the HTTP API, with a digest of its secret.
  package var accessKeys: String { "\(prefix):keys" }

  /// HASH: app → its record, with its secrets sealed.
  package var apps: String { "\(prefix):apps" }

  /// STREAM: an entry for each change of an app, field `app`.
  var appChanges: String { "\(prefix):app_changes" }

  /// STRING: a browser that has shown a key, by a digest of the name that it got.
  func session(_ digest: String) -> String { "\(prefix):session:\(digest)" }

  /// STRING: the name of the shard that this is, in a fleet of several.
  var shard: String { "\(prefix):shard" }
  /// HASH: the shards that the fleet has had, each with when it was listed first; in the home of a fleet of several.
  var shards: String { "\(prefix):shards" }
  /// HASH: app → the shard in which it lives, of those that live in another one.
  package var elsewhere: String { "\(prefix):elsewhere" }

  /// ZSET: digest of a configuration → when a worker last had it.
  var routes: String { "\(prefix):routes" }

  /// STRING: there for the first seconds of a fleet, in which its workers say one by one which routes they have.
  var routesGathering: String { "\(prefix):routes_gathering" }

  /// HASH: what a configuration can send to, app → `<network>|<environment>` with commas between them.
  func routes(_ digest: String) -> String { "\(prefix):routes:\(digest)" }

  /// ZSET: routes that something waits for and a live worker has.
  var routed: String { "\(prefix):routed" }

  /// ZSET: routes that something waits for and no live worker has → since when.
  var unrouted: String { "\(prefix):unrouted" }

  /// ZSET: what waits for a route.
  func waiting(_ kind: WorkKind, route: String) -> String {
    "\(prefix):unrouted:\(kind.rawValue):\(route)"
  }

  /// HASH: route → a known app that may have been meant.
  var routeHints: String { "\(prefix):unrouted:hints" }

  /// HASH: route that no live worker has → how far what waits for it was found to wait no more.
  var routesLooked: String { "\(prefix):unrouted:looked" }

  /// HASH: how far what waits was looked through.
  var routeSweep: String { "\(prefix):unrouted:sweep" }

  /// STRING: up to when the turns of the events in a bucket are given away.
  func loop(app: String, bucket: String) -> String { "\(prefix):loop:\(app):\(bucket)" }

  /// STRING: the same of the jobs to a topic.
  func topicLoop(app: String, topic: String) -> String { "\(prefix):topic_loop:\(app):\(topic)" }

  /// HASH: what is kept of the jobs that the loop guard refused.
  func loopLetters(app: String) -> String { "\(prefix):loop_letters:\(app)" }

  /// HASH: the token bucket of a job's pace.
  func pace(app: String, job: String) -> String { "\(prefix):pace:\(app):\(job)" }

  /// HASH: a token bucket that the fleet leases from.
  func rate(_ name: String) -> String { "\(prefix):rate:\(name)" }

  /// STRING: the last generation given to an installation.
  var generation: String { "\(prefix):generation" }

  /// Returns the key under which a value of another type is kept that stood under one of our keys; `name` is that key's
  /// without the prefix.
  func displaced(_ name: String) -> String { "\(prefix):displaced:\(name)" }

  /// HASH: what became last of tokens and of users' devices, of so many days; see `Departure`.
  func departed(_ turn: String) -> String { "\(prefix):departed:\(turn)" }

  /// ZSET `<network>:<app>:<token>`: the latest tokens that were uninstalled, by the generation that was drawn last.
  var unbound: String { "\(prefix):unbound" }

  /// HASH app → bindings that were half there and were mended within a day.
  var mended: String { "\(prefix):mended" }

  /// HASH: how far the fleet's walk over all bindings is.
  var mending: String { "\(prefix):mending" }

  /// STRING: the last turn of an import that took effect.
  func importTurn(_ id: String) -> String { "\(prefix):import:\(id)" }

  /// SET: `<app>:<id>` of the jobs that are admitted and not finished.
  package var open: String { "\(prefix):open" }

  /// ZSET: function library → when a worker last said that it uses it.
  package var libraries: String { "\(prefix):libraries" }

  /// ZSET: chunks that wait for their time.
  package var delayed: String { "\(prefix):delayed" }

  /// ZSET: an app's delayed chunks that are due and wait for room, in order.
  func ready(_ priority: Priority, app: String) -> String { "\(readyApps(priority)):\(app)" }

  /// ZSET: the apps that have such chunks, in the order of their turns.
  func readyApps(_ priority: Priority) -> String { "\(prefix):ready:\(priority.rawValue)" }

  /// HASH: the segments of a job's unfinished chunks → the entry by which each was last added to a stream, or nothing.
  func unfinished(_ source: String) -> String { "\(prefix):unfinished:\(source)" }

  /// STRING: who promotes delayed chunks.
  var promoter: String { "\(prefix):promoter" }

  /// HASH: priority → the first job that waits; `<priority>|since` → since when work waits there, epoch milliseconds or 0; `at` →
  /// when that was looked at.
  package var oldest: String { "\(prefix):oldest" }

  /// HASH: what the last look at the producers' streams saw.
  var ledger: String { "\(prefix):ledger" }

  /// STREAM: removals that were asked for or came from a new owner.
  package var audit: String { "\(prefix):audit" }

  /// HASH: app → its chunks in the stream.
  func share(_ priority: Priority) -> String { "\(prefix):share:\(priority.rawValue)" }

  /// HASH: what was seen of the jobs that wait.
  func scout(_ priority: Priority) -> String { "\(prefix):scout:\(priority.rawValue)" }

  /// LIST: apps that take turns while jobs wait.
  func express(_ priority: Priority) -> String { "\(prefix):express:\(priority.rawValue)" }
}

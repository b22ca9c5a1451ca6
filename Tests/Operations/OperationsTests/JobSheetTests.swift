import Model
import Operations
import Redis
import Store
import Testing

/// What a job says, and to whom it goes, wherever the job is.
@Suite struct JobSheetTests {
  private static let notification = #""notification":{"title":"Sale"}"#
  private static let text =
    #"{"id":"j","app":"shop","audience":{"users":["a","b"]},"filter":{"language":["ja"]},"#
    + notification + "}"

  private static func run(_ store: ShardStore, _ words: String...) async throws(RedisError) {
    var command = RedisCommand()
    for word in words { command.append(word) }
    _ = try await store.connection.call(command)
  }

  private static func sheet(
    _ stores: [ShardStore], _ id: String = "j"
  ) async throws -> JobSheet {
    let record = try await JobControl(app: "shop", id: id, stores: stores).recorded()
    return try await JobSheet.read(try #require(record), in: stores)
  }

  private static let filter = JSONValue.object(["language": .array([.string("ja")])])
  private static let content: JSONObject = [
    "notification": .object(["title": .string("Sale")])
  ]

  @Test func `a job that waits is told as its producer wrote it, with how many it names`()
    async throws
  {
    try await Shards.withStores { _, stores in
      let entry = try await stores[1].jobs.enqueue(Array(Self.text.utf8), priority: .high)
      let control = JobControl(app: "shop", id: "j", stores: stores)
      let (nowMs, patience) = (Int64(4_000_000_000_000), Patience())
      let record = try await control.perform(.show, nowMs: nowMs, patience: patience) { _ in }
      #expect(record.source == "h\(entry)")
      let sheet = try await JobSheet.read(record, in: stores)
      #expect(sheet.audience == ["users": .integer(2)])
      #expect(sheet.filter == Self.filter && sheet.content == Self.content)
    }
  }

  @Test func `a job is told by what its own shard has of its entry and its letter`() async throws {
    try await Shards.withStores { _, stores in
      let entry = try await stores[1].jobs.enqueue(Array(Self.text.utf8), priority: .high)
      let other = #"{"id":"o","app":"news","audience":{"users":["x"]},"notification":{"body":"y"}}"#
      try await Self.run(
        stores[0], "XADD", stores[0].keys.jobs(.high), entry, "job", other)
      let control = JobControl(app: "shop", id: "j", stores: stores)
      let waiting = try await control.perform(
        .show, nowMs: 4_000_000_000_000, patience: Patience()
      ) { _ in }
      #expect(waiting.shard == stores[1].id)
      #expect(try await JobSheet.read(waiting, in: stores).content == Self.content)
      let taken = try #require(try await stores[1].jobs.take(consumer: "w", max: 1).first)
      try await stores[1].jobs.refuse(
        taken, Refusal(reason: "unknown_app", message: "no", app: "shop", id: "j"), consumer: "w")
      let letter = try #require(try await stores[1].deadLetters.list(max: 1).first)
      try await Self.run(
        stores[0], "XADD", stores[0].keys.dead, letter.entry, "kind", "job", "job", other)
      let refused = try #require(try await control.recorded())
      #expect(try await JobSheet.read(refused, in: stores).content == Self.content)
      #expect(refused.letterText == "eu/\(letter.entry)")
      #expect(refused.json().objectValue?["letter"] == .string("eu/\(letter.entry)"))
    }
  }

  @Test func `a refused job is told by its dead letter, and not when that is gone`() async throws {
    try await Shards.withStores { _, stores in
      _ = try await stores[1].jobs.enqueue(Array(Self.text.utf8), priority: .high)
      let entry = try #require(try await stores[1].jobs.take(consumer: "w", max: 1).first)
      try await stores[1].jobs.refuse(
        entry, Refusal(reason: "unknown_app", message: "no", app: "shop", id: "j"), consumer: "w")
      let sheet = try await Self.sheet(stores)
      #expect(sheet.audience == ["users": .integer(2)] && sheet.content == Self.content)
      let letter = try #require(try await stores[1].deadLetters.list(max: 1).first)
      #expect(try await stores[1].deadLetters.drop(letter.entry))
      let gone = try await Self.sheet(stores)
      #expect(gone.content == nil && gone.audience.isEmpty)
    }
  }

  @Test(
    arguments: [
      ("users_key", "segment:vip", #"{"users_key":"segment:vip"}"#),
      ("index", "all", #"{"all":true}"#),
      ("index", "channel:a%3Ab", #"{"channel":"a:b"}"#),
      ("index", "topic:news", #"{"topic":"news"}"#),
      ("topic", "news", #"{"topic":"news"}"#),
      ("lines", "installations", #"{"list":"installations"}"#),
    ])
  func `an admitted job is told by what its record and the lanes have`(
    field: String, value: String, audience: String
  ) async throws {
    try await Shards.withStores { _, stores in
      let keys = stores[1].keys
      try await Self.run(
        stores[1], "HSET", keys.job(app: "shop", id: "j"), "state", "running", "admitted", "1",
        field,
        value)
      try await Self.run(
        stores[1], "SET", keys.content(app: "shop", id: "j"),
        #"{"filter":{"language":["ja"]},\#(Self.notification)}"#)
      let sheet = try await Self.sheet(stores)
      let expected = try JSONParser().parse(Array(audience.utf8))
      #expect(JSONValue.object(sheet.audience) == expected)
      #expect(sheet.filter == Self.filter && sheet.content == Self.content)
      try await Self.run(stores[1], "DEL", keys.content(app: "shop", id: "j"))
      let later = try await Self.sheet(stores)
      #expect(later.content == nil && later.filter == nil && later.audience == sheet.audience)
      #expect(later.members.map(\.name) == ["audience"])
    }
  }
}

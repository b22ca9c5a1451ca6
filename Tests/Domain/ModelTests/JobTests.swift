import Model
import Testing

@Suite struct JobTests {
  static func job(_ fields: String) throws -> Job {
    try Job(text: #"{"app":"shop","audience":{"users":["u1"]},\#(fields)}"#)
  }

  @Test("a job with every field is read")
  func everyField() throws {
    let job = try Job(
      text: #"""
        {"id": "spring-sale", "app": "shop", "audience": {"users": ["u1", "u2"]},
         "notification": {"title": "T", "body": "B", "badge": 3, "sound": "default",
           "category": "LikeCategory", "thread_id": "th", "image": "https://x.example/a.png",
           "content_available": true, "mutable_content": true, "data": {"k": "v", "a": "b"}},
         "apns": {"payload": {"aps": {"alert": {"loc-key": "K"}}, "x": 1}, "push_type": "alert",
           "topic": "com.example.shop.voip", "priority": 10},
         "fcm": {"message": {"android": {"priority": "HIGH"}}},
         "jpush": {"platform": "all"},
         "collapse_id": "c", "ttl_seconds": 3600, "environments": ["production"],
         "dry_run": true, "on_unknown": "give_up", "trace": true}
        """#)
    #expect(job.id == "spring-sale")
    #expect(job.app == "shop")
    #expect(job.audience == .users(["u1", "u2"]))
    let content = job.content
    var notification = Notification(
      title: "T", body: "B", badge: .number(3), sound: "default", category: "LikeCategory",
      threadID: "th", image: "https://x.example/a.png",
      data: [.init(name: "a", value: "b"), .init(name: "k", value: "v")])
    notification.contentAvailable = true
    notification.mutableContent = true
    #expect(content.notification == notification)
    #expect(
      content.apns
        == APNsPart(
          payload: ["aps": ["alert": ["loc-key": .string("K")]], "x": .integer(1)],
          pushType: .alert, topic: "com.example.shop.voip", priority: .immediate))
    #expect(content.fcm == FCMPart(message: ["android": ["priority": .string("HIGH")]]))
    #expect(content.jpush == JPushPart(payload: ["platform": .string("all")]))
    #expect(content.collapseID == "c")
    #expect(content.expiry == .ttl(seconds: 3600))
    #expect(content.environments == [.production])
    #expect(content.dryRun)
    #expect(content.unknownPolicy == .giveUp)
    #expect(content.trace)
  }

  @Test("a job's time to live counts from its start")
  func startsLater() throws {
    let fields = #""notification":{"body":"B"},"deliver_at":"2026-12-01T09:00:00Z""#
    let startMs: Int64 = 1_796_115_600_000
    #expect(try Self.job(fields).deliverAtMs == startMs)
    #expect(try Self.job(fields).content.expiry == nil)
    let bounded = try Self.job(fields + #","ttl_seconds":60"#)
    #expect(bounded.content.expiry == .at(ms: startMs + 60_000))
    #expect(try Job(json: bounded.json()) == bounded)
    #expect(bounded.livesSeconds == 60)
    for more in ["", #","ttl_seconds":0"#, #","expires_at":"2026-12-01T09:01:00Z""#] {
      #expect(try Self.job(fields + more).livesSeconds == nil)
    }
    #expect(try Self.job(#""notification":{"body":"B"},"ttl_seconds":60"#).livesSeconds == nil)
    #expect(try Self.job(fields + #","ttl_seconds":0"#).content.expiry == .ttl(seconds: 0))
    let other = try Self.job(fields.replacing("09:00", with: "09:01"))
    #expect(try Self.job(fields).canonicalBytes() != other.canonicalBytes())
  }

  @Test("the expiry is read from what is kept of a content, whatever else stands there")
  func readsExpiry() throws {
    for (text, expiry) in [
      (#"{"expires_at":1790000000000,"new":{}}"#, Expiry.at(ms: 1_790_000_000_000)),
      (#"{"ttl_seconds":60}"#, .ttl(seconds: 60)), (#"{"ttl_seconds":0}"#, .ttl(seconds: 0)),
      (#"{"ttl_seconds":-1}"#, nil), ("{}", nil), ("[]", nil), ("no JSON", nil),
    ] as [(String, Expiry?)] {
      #expect(Expiry(content: Array(text.utf8)) == expiry, "\(text)")
    }
    let job = try Self.job(#""notification":{"body":"B"},"ttl_seconds":60"#)
    #expect(Expiry(content: job.content.canonicalBytes()) == job.content.expiry)
  }

  @Test("what a job leaves out has its default")
  func defaults() throws {
    let content = try Self.job(#""notification":{"body":"B"}"#).content
    #expect(content == JobContent(notification: Notification(body: "B")))
    #expect(content.environments == [.production, .development])
    #expect(content.unknownPolicy == .resend)
    #expect(content.expiry == nil)
    #expect(!content.trace)
    #expect(try Self.job(#""notification":{"body":"B"}"#).id == nil)
  }

  @Test(
    "content survives the way through Redis, and its canonical JSON does not change on it",
    arguments: [
      #""notification":{"body":"B"}"#,
      #""notification":{"data":{"z":"1","é":"2","a":"\u0000"}},"ttl_seconds":0"#,
      #""apns":{"payload":{"n":1.50}},"expires_at":"2030-01-01T00:00:00Z","dry_run":false"#,
      #""fcm":{"message":{}},"jpush":{"x":[]},"environments":["development","development"]"#,
      #""notification":{"title":"","content_available":true},"on_unknown":"give_up","dry_run":true"#,
      #""notification":{"body":"B"},"trace":true"#,
      #""apns":{"payload":{},"push_type":"background","priority":5,"topic":"a.b"}"#,
    ])
  func contentRoundTrip(fields: String) throws {
    let content = try Self.job(fields).content
    let bytes = content.canonicalBytes()
    #expect(try JobContent(bytes: bytes) == content)
    #expect(try JobContent(bytes: bytes).canonicalBytes() == bytes)
  }

  @Test("a job read from its own JSON is the same job")
  func jobRoundTrip() throws {
    let job = try Self.job(#""id":"x","notification":{"body":"B"},"ttl_seconds":60"#)
    #expect(try Job(json: job.json()) == job)
    let other = try Job(
      text:
        #"{"app":"shop","audience":{"installations":[{"network":"fcm","token":"abcdefgh"}]},"fcm":{"message":{}}}"#
    )
    #expect(try Job(json: other.json()) == other)
  }

  @Test("the same job in other words has the same canonical bytes, another one has not")
  func canonicalBytes() throws {
    let one = try Job(
      text:
        #"{"id":"a","app":"s","audience":{"users":["u","u","v"]},"notification":{"body":"B","title":"T"},"expires_at":1893456000000}"#
    )
    let same = try Job(
      text:
        #"{"expires_at":"2030-01-01T01:00:00+01:00","notification":{"title":"T","body":"B"},"audience":{"users":["u","v"]},"dry_run":false,"app":"s","environments":["development","production"]}"#
    )
    #expect(one.canonicalBytes() == same.canonicalBytes())
    for (from, to) in [("\"B\"", "\"C\""), ("[\"u\",\"v\"]", "[\"v\",\"u\"]"), ("\"s\"", "\"r\"")] {
      let text = String(decoding: same.canonicalBytes(), as: UTF8.self)
      #expect(text.contains(from))
      let other = try Job(text: text.replacing(from, with: to))
      #expect(other.canonicalBytes() != one.canonicalBytes())
    }
  }

  @Test("repeated users and installations count once, in their first place")
  func duplicates() throws {
    let users = try Job(
      text:
        #"{"app":"s","audience":{"users":["b","a","b","\u00e9","e\u0301","a"]},"fcm":{"message":{}}}"#
    )
    guard case .users(let names) = users.audience else { return #expect(Bool(false)) }
    #expect(
      names.map { Array($0.utf8) } == ["b", "a", "\u{E9}", "e\u{301}"].map { Array($0.utf8) })
    let tokens = try Job(
      text: #"""
        {"app":"s","fcm":{"message":{}},"audience":{"installations":[
          {"network":"apns","token":"ABCDEF01"},{"token":"abcdef01","network":"apns"},
          {"network":"fcm","token":"abcdef01"},{"network":"fcm","token":"ABCDEF01"}]}}
        """#)
    #expect(
      tokens.audience
        == .installations([
          try DeviceToken("abcdef01", network: .apns), try DeviceToken("abcdef01", network: .fcm),
          try DeviceToken("ABCDEF01", network: .fcm),
        ]))
    #expect(tokens.audience.count == 3)
  }

  @Test("a key of users stands for them, in the job's identity too")
  func usersKey() throws {
    func job(_ key: String) throws -> Job {
      try Job(text: #"{"app":"s","fcm":{"message":{}},"audience":{"users_key":"\#(key)"}}"#)
    }
    let one = try job("crowd:1")
    #expect(one.audience == .usersKey("crowd:1"))
    #expect(one.audience.count == nil)
    #expect(try Job(json: one.json()) == one)
    #expect(try one.canonicalBytes() != job("crowd:2").canonicalBytes())
  }

  @Test("a topic and all stand for their users, and the message tells its topic")
  func topics() throws {
    func job(_ audience: String, _ content: String = #""fcm":{"message":{}}"#) throws -> Job {
      try Job(text: #"{"app":"s",\#(content),"audience":{\#(audience)}}"#)
    }
    let topic = try job(#""topic":"news""#)
    #expect(topic.audience == .topic("news") && topic.audience.count == nil)
    #expect(topic.content.topic == "news")
    let all = try job(#""all":true"#)
    #expect(all.audience == .all && all.content.topic == nil)
    let channel = try job(
      #""channel":"a:b é""#, #""fcm":{"message":{}},"filter":{"language":["ja"]}"#)
    #expect(channel.audience == .channel("a:b é") && channel.content.channel == "a:b é")
    for job in [topic, all, channel] { #expect(try Job(json: job.json()) == job) }
    // Of the users in the channel it is for the devices that are, and for which the filter holds.
    let receivers = FilterMatcher(try #require(channel.content.receivers))
    for (channels, language, isIn) in [
      (["a:b é", "x"], "ja-JP", true), (["a:b é"], "en", false), (["a:b"], "ja", false),
      ([], "ja", false),
    ] {
      let device = Installation(
        app: "s", user: "u", token: DeviceToken(stored: "aa", network: .fcm),
        device: Installation.Device(language: language), channels: channels)
      #expect(receivers.admits(device) == isIn, "\(channels) \(language)")
    }
    #expect(try JobContent(bytes: channel.content.canonicalBytes()) == channel.content)
    #expect(try topic.canonicalBytes() != job(#""topic":"goals""#).canonicalBytes())
    #expect(try JobContent(bytes: topic.content.canonicalBytes()) == topic.content)
    let event = #"""
      "kind":"push_to_app","event":{"bucket_id":"b","bucket_type":"rw","type":"DATA_OBJECT_CREATED",
       "object_scope_app_id":"a1","object_scope_type":"APP"}
      """#
    let told = try job(#""topic":"news""#, event).content
    #expect(told.topic == "news")
    #expect(try JobContent(bytes: told.canonicalBytes()) == told)
  }

  @Test("an expiry is an instant or a duration after the creation")
  func expiry() throws {
    #expect(Expiry.ttl(seconds: 60).expiresAtMs(createdAtMs: 1_000) == 61_000)
    #expect(Expiry.at(ms: 5).expiresAtMs(createdAtMs: 1_000) == 5)
    let content = try Self.job(#""fcm":{"message":{}},"expires_at":1790000000000"#).content
    #expect(content.expiry == .at(ms: 1_790_000_000_000))
  }

  @Test("a million users are read, one more is refused")
  func manyUsers() throws {
    func text(_ count: Int) -> [UInt8] {
      var bytes = Array(#"{"app":"s","fcm":{"message":{}},"audience":{"users":["#.utf8)
      for number in 0..<count {
        if number > 0 { bytes.append(UInt8(ascii: ",")) }
        bytes += Array("\"\(number)\"".utf8)
      }
      return bytes + Array("]}}".utf8)
    }
    #expect(try Job(bytes: text(1_000_000)).audience.count == 1_000_000)
    #expect(
      JobRefusalTests.complaint(text(1_000_001))
        == "/audience/users: must name at most 1000000 users, names 1000001: split the job, "
        + "or use users_key")
  }
}

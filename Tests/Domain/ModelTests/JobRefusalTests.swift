import Model
import Testing

/// The corpus of bad jobs: each is refused with its own clear reason (fault matrix, row 9).
@Suite struct JobRefusalTests {
  static func complaint(_ bytes: [UInt8]) -> String {
    do {
      _ = try Job(bytes: bytes)
      return "accepted"
    } catch { return "\(error)" }
  }

  static func complaint(_ text: String) -> String { complaint(Array(text.utf8)) }

  /// The complaint about a job that is good but for `fields`.
  static func complaint(fields: String) -> String {
    complaint(#"{"app":"shop","audience":{"users":["u1"]},\#(fields)}"#)
  }

  @Test(
    "what is not a job at all is refused",
    arguments: [
      ("", "not valid JSON at byte 0: is empty"), ("[]", "must be an object, is an array"),
      ("null", "must be an object, is null"), ("{}", "/app: is missing"),
      (#"{"app":"s"}"#, "/audience: is missing"),
      (#"{"app":"s","audience":{"users":["u"]}}"#, "/notification: is missing: a job needs"),
      (#"{"app":"s","app":"t"}"#, "\"app\" occurs twice"),
      (#"{"app":null,"audience":{}}"#, "/app: must be a string, is null: leave the field out"),
      (#"{"app":"a/b","audience":{}}"#, "/app: must be 1 to 64 ASCII letters"),
      (#"{"app":"","audience":{}}"#, "/app: must be 1 to 64"),
      (#"{"app":"a|b","audience":{}}"#, "/app: must be 1 to 64"),
      (#"{"app":"é","audience":{}}"#, "/app: must be 1 to 64"),
    ])
  func notAJob(text: String, expected: String) {
    let complaint = Self.complaint(text)
    #expect(complaint.hasPrefix(expected) || complaint.contains(expected), "\(complaint)")
  }

  @Test(
    "an audience that is not exactly one known kind is refused",
    arguments: [
      ("[]", "/audience: must be an object, is an array"), ("{}", "/audience: must hold exactly"),
      (#"{"users":["u"],"installations":[]}"#, "exactly one of users, installations"),
      (#"{"users":[]}"#, "/audience/users: must name at least one user"),
      (#"{"users":"u"}"#, "/audience/users: must be an array, is a string"),
      (#"{"users":["u",1]}"#, "/audience/users/1: must be a string, is a number"),
      (#"{"users":[""]}"#, "/audience/users/0: must not be empty"),
      (#"{"users":["a\nb"]}"#, "/audience/users/0: must not hold control characters"),
      (#"{"users":["a\u0000b"]}"#, "/audience/users/0: must not hold control characters"),
      (#"{"users":["é\u0085"]}"#, "/audience/users/0: must not hold control characters"),
      (#"{"users":["\u007f"]}"#, "/audience/users/0: must not hold control characters"),
      (#"{"user":["u"]}"#, "/audience/user: is not a known field; did you mean \"users\"?"),
      (#"{"installations":[{"network":"apns"}]}"#, "/audience/installations/0/token: is missing"),
      (#"{"installations":[{"token":"aabbccdd"}]}"#, "installations/0/network: is missing"),
      (#"{"installations":["aabbccdd"]}"#, "installations/0: must be an object, is a string"),
      (
        #"{"installations":[{"network":"apn","token":"aabbccdd"}]}"#,
        "0/network: must be one of apns, fcm, jpush, is \"apn\"; did you mean \"apns\"?"
      ),
      (
        #"{"installations":[{"network":"apns","token":"../../3/device"}]}"#,
        "/audience/installations/0/token: an APNs device token must be hexadecimal"
      ),
      (
        #"{"installations":[{"network":"apns","token":"aabbccdd","user":"u"}]}"#,
        "/audience/installations/0/user: is not a known field"
      ),
      (#"{"topic":"a b"}"#, "/audience/topic: must be 1 to 64 ASCII letters, digits or _ -"),
      (#"{"topic":""}"#, "/audience/topic: must be 1 to 64"),
      (#"{"topic":["news"]}"#, "/audience/topic: must be a string, is an array"),
      (#"{"channel":""}"#, "/audience/channel: must not be empty"),
      (#"{"channel":7}"#, "/audience/channel: must be a string, is a number"),
      (#"{"all":false}"#, "/audience/all: must be true: it has no other value"),
      (#"{"all":"yes"}"#, "/audience/all: must be true or false, is a string"),
      (#"{"all":true,"topic":"news"}"#, "/audience: must hold exactly one of"),
      (#"{"users_key":7}"#, "/audience/users_key: must be a string, is a number"),
      (#"{"users_key":""}"#, "/audience/users_key: must not be empty"),
      (#"{"users_key":"a\nb"}"#, "/audience/users_key: must not hold control characters"),
      (
        #"{"users_key":"k","users":["u"]}"#,
        "/audience: must hold exactly one of users, installations, users_key, topic, channel, all, holds users_key, users"
      ),
    ])
  func audience(json: String, expected: String) {
    let complaint = Self.complaint(
      #"{"app":"s","notification":{"body":"B"},"audience":\#(json)}"#)
    #expect(complaint.contains(expected), "\(complaint)")
  }

  @Test(
    "a bad field is refused with its pointer and its rule",
    arguments: [
      (#""id":"""#, "/id: must be 1 to 128 printable ASCII"),
      (#""id":"a b""#, "/id: must be 1 to 128"), (#""id":"a\r\nb""#, "/id: must be 1 to 128"),
      (#""id":"é""#, "/id: must be 1 to 128"), (#""id":7"#, "/id: must be a string, is a number"),
      (#""notifcation":{}"#, "/notifcation: is not a known field; did you mean \"notification\"?"),
      (#""topic":"news""#, "/topic: is not a known field"),
      (#""ttl":60"#, "/ttl: is not a known field; did you mean \"ttl_seconds\"?"),
      (#""collapseId":"c""#, "did you mean \"collapse_id\"?"),
      (#""zebra":1"#, "/zebra: is not a known field; known here: id, app, audience"),
      (#""a/b~c\n":1"#, "/a~1b~0c\u{FFFD}: is not a known field"),
      (#""ttl_seconds":-1"#, "/ttl_seconds: must be an integer from 0 to 2419200, is -1"),
      (#""ttl_seconds":2419201"#, "/ttl_seconds: must be an integer from 0 to 2419200"),
      (#""ttl_seconds":1.5"#, "/ttl_seconds: must be an integer"),
      (#""ttl_seconds":"60""#, "/ttl_seconds: must be an integer, is a string"),
      (#""ttl_seconds":60,"expires_at":1790000000000"#, "/expires_at: must not stand beside"),
      (#""expires_at":1790000000"#, "/expires_at: is in the year 1973 or before"),
      (#""expires_at":-1"#, "/expires_at: must be epoch milliseconds from 0"),
      (#""expires_at":"tomorrow""#, "or an RFC 3339 instant"),
      (#""expires_at":true"#, "/expires_at: must be epoch milliseconds or an RFC 3339 string"),
      (#""collapse_id":"""#, "/collapse_id: must not be empty"),
      (#""collapse_id":"a\r\nb""#, "/collapse_id: must not hold control characters"),
      (#""collapse_id":"a ""#, "/collapse_id: must be printable ASCII without a space at its"),
      (#""collapse_id":" a""#, "/collapse_id: must be printable ASCII without a space at its"),
      (#""collapse_id":"\t""#, "/collapse_id: must not hold control characters"),
      (#""collapse_id":"é""#, "/collapse_id: must be printable ASCII without a space at its"),
      (
        "\"collapse_id\":\"\(String(repeating: "é", count: 33))\"",
        "/collapse_id: must be at most 64 bytes of UTF-8, is 66"
      ),
      (#""environments":[]"#, "/environments: must not be empty"),
      (#""environments":["sandbox"]"#, "/environments/0: must be one of production, development"),
      (#""environments":[1]"#, "/environments/0: must be a string"),
      (#""environments":"production""#, "/environments: must be an array"),
      (#""dry_run":"yes""#, "/dry_run: must be true or false, is a string"),
      (#""on_unknown":"drop""#, "/on_unknown: must be one of resend, give_up"),
      (#""filter":{}"#, "/filter: must hold a field"),
      (#""deliver_at":1790000000"#, "/deliver_at: is in the year 1973 or before"),
      (
        #""pushes_per_second":0"#,
        "/pushes_per_second: must be an integer from 1 to 1000000, is 0"
      ),
      (
        #""pushes_per_second":5,"spread_over_seconds":60"#,
        "/spread_over_seconds: cannot stand beside pushes_per_second"
      ),
      (
        #""spread_over_seconds":60,"ttl_seconds":59"#,
        "/ttl_seconds: must be at least spread_over_seconds, 60"
      ),
      (#""deliver_at":"soon""#, "/deliver_at: must be epoch milliseconds or an RFC 3339 instant"),
      (
        #""deliver_at":1790000000001,"expires_at":1790000000001"#,
        "/expires_at: must be later than deliver_at"
      ),
      (#""priority":"high""#, "/priority: is not part of the job: add the job to the stream"),
    ])
  func field(fields: String, expected: String) {
    let complaint = Self.complaint(fields: fields + #","notification":{"body":"B"}"#)
    #expect(complaint.contains(expected), "\(complaint)")
  }

  @Test(
    "a bad notification is refused with its pointer and its rule",
    arguments: [
      ("{}", "/notification: is empty"), ("[]", "/notification: must be an object"),
      (#"{"category":"c","data":{}}"#, "/notification: is empty"),
      (#"{"titel":"T"}"#, "/notification/titel: is not a known field; did you mean \"title\"?"),
      (#"{"body":1}"#, "/notification/body: must be a string, is a number"),
      (
        #"{"badge":"+2"}"#,
        "/notification/badge: must be a number, or \"+1\" for one more than the installation's"
      ),
      (#"{"badge":"1"}"#, "/notification/badge: must be a number, or \"+1\""),
      (#"{"badge":-1}"#, "/notification/badge: must be an integer from 0"),
      (#"{"sound":""}"#, "/notification/sound: must not be empty"),
      (#"{"sound":{"name":"x"}}"#, "/notification/sound: must be a string, is an object"),
      (#"{"body":"B","image":"http://x/y"}"#, "/notification/image: must be an https:// URL"),
      (#"{"body":"B","image":"https://"}"#, "/notification/image: must be an https:// URL"),
      (#"{"body":"B","image":"https:///x"}"#, "/notification/image: must be an https:// URL"),
      (#"{"body":"B","image":"https://x/a b"}"#, "/notification/image: must be an https:// URL"),
      (#"{"content_available":1}"#, "/notification/content_available: must be true or false"),
      (#"{"data":[1]}"#, "/notification/data: must be an object"),
      (#"{"data":{"n":1}}"#, "/notification/data/n: must be a string, is a number: FCM carries"),
      (#"{"data":{"n":true}}"#, "/notification/data/n: must be a string, is a boolean"),
      (#"{"data":{"":"x"}}"#, "/notification/data/: the name must not be empty"),
      (#"{"data":{"a\nb":"x"}}"#, "the name must not hold control characters"),
    ])
  func notification(json: String, expected: String) {
    let complaint = Self.complaint(fields: #""notification":\#(json)"#)
    #expect(complaint.contains(expected), "\(complaint)")
  }

  @Test(
    "custom data may not use a reserved key, for the common part and for FCM's",
    arguments: [
      "aps", "from", "message_type", "collapse_key", "google", "googlé", "google.c.a", "gcm",
      "gcm.n.e",
      "to", "bi", "bt", "t", "oi", "sa", "st", "su", "sg", "sth", "s", "w", "bucketID",
      "bucketType", "type", "objectID", "objectScopeAppID", "objectScopeType",
      "objectScopeUserID", "objectScopeGroupID", "objectScopeThingID", "sender", "when",
    ])
  func reservedKey(name: String) {
    let common = Self.complaint(fields: #""notification":{"data":{"\#(name)":"x"}}"#)
    #expect(common.hasPrefix("/notification/data/\(name): "), "\(common)")
    #expect(common.contains("use another name"))
    let fcm = Self.complaint(fields: #""fcm":{"message":{"data":{"\#(name)":"x"}}}"#)
    #expect(fcm.hasPrefix("/fcm/message/data/\(name): "), "\(fcm)")
  }

  @Test(
    "a network's own part may not use a name either by which receivers tell messages apart",
    arguments: ["to", "bi", "t", "w", "bucketID", "objectScopeThingID", "sender", "when"])
  func receiverKey(name: String) {
    let reason = "\(name): is reserved for topic messages and push-to-app events: use another name"
    let entry = #"{"\#(name)":"x"}"#
    let apns = Self.complaint(fields: #""apns":{"payload":\#(entry)}"#)
    #expect(apns == "/apns/payload/\(reason)")
    for (part, pointer) in [
      (#""message":{"msg_content":"m","extras":\#(entry)}"#, "message"),
      (#""notification":{"android":{"extras":\#(entry)}}"#, "notification/android"),
      (#""notification":{"ios":{"extras":\#(entry)}}"#, "notification/ios"),
      (#""notification":{"hmos":{"extras":\#(entry)}}"#, "notification/hmos"),
      (#""notification_3rd":{"extras":\#(entry)}"#, "notification_3rd"),
    ] {
      let jpush = Self.complaint(fields: #""jpush":{\#(part)}"#)
      #expect(jpush == "/jpush/\(pointer)/extras/\(reason)")
    }
  }

  @Test(
    "below the names that receivers look at all names are free, and those that only FCM reserves")
  func deeperKeys() {
    for fields in [
      #""apns":{"payload":{"aps":{"alert":"a"},"order":{"type":"x","to":"y"},"gcm.n":"z"}}"#,
      #""jpush":{"notification":{"alert":"a","android":{"extras":{"order":{"type":"x"}}}}}"#,
      #""jpush":{"message":{"msg_content":"m","content_type":"text","extras":{"from":"x"}}}"#,
    ] {
      #expect(Self.complaint(fields: fields) == "accepted")
    }
  }

  @Test("names near the reserved ones are free")
  func freeKeys() {
    for name in ["APS", "apsx", "goog", "fromage", "tt", "ty", "Type", "priority"] {
      #expect(Self.complaint(fields: #""notification":{"data":{"\#(name)":"x"}}"#) == "accepted")
    }
  }

  @Test(
    "a bad part for one network is refused",
    arguments: [
      (#""apns":{"payload":[1]}"#, "/apns/payload: must be an object, is an array"),
      (#""apns":{"payload":{"aps":1}}"#, "/apns/payload: aps must be an object, is a number"),
      (
        #""apns":{"payload":{"aps":{"badge":"+1"}}}"#,
        "/apns/payload: aps.badge must be a number from 0; to raise badges"
      ),
      (#""apns":{"payload":{"aps":{"badge":-1}}}"#, "/apns/payload: aps.badge must be a number"),
      (#""apns":{"topic":"a.b"}"#, "/notification: is missing"),
      (#""apns":{"payload":{},"push_type":"silent"}"#, "/apns/push_type: must be one of alert"),
      (#""apns":{"payload":{},"topic":"a\r\nb"}"#, "/apns/topic: must be 1 to 255"),
      (#""apns":{"payload":{},"topic":"a/b"}"#, "ASCII letters, digits or . -"),
      (#""apns":{"payload":{},"priority":7}"#, "/apns/priority: must be 10, 5 or 1, is 7"),
      (#""apns":{"payload":{},"priority":"high"}"#, "/apns/priority: must be an integer"),
      (
        #""apns":{"payload":{},"push_type":"background","priority":10}"#,
        "/apns/priority: must be 5 with push_type background, is 10"
      ),
      (#""apns":{"payloads":{}}"#, "/apns/payloads: is not a known field"),
      (#""fcm":{}"#, "/fcm/message: is missing"),
      (#""fcm":{"message":1}"#, "/fcm/message: must be"),
      (#""fcm":{"message":{"token":"x"}}"#, "/fcm/message/token: must be left out"),
      (#""fcm":{"message":{"topic":"x"}}"#, "/fcm/message/topic: must be left out"),
      (#""fcm":{"message":{"condition":"x"}}"#, "/fcm/message/condition: must be left out"),
      (#""fcm":{"message":{"data":{"k":1}}}"#, "/fcm/message/data/k: must be a string"),
      (#""fcm":{"message":{"data":"x"}}"#, "/fcm/message/data: must be an object"),
      (#""jpush":"x""#, "/jpush: must be an object"),
      (#""jpush":{"audience":"all"}"#, "/jpush/audience: must be left out"),
      (#""jpush":{"cid":"x"}"#, "/jpush/cid: must be left out"),
      (#""jpush":{"platform":["ios"]}"#, "/jpush/platform: must be \"all\", or left out"),
      (#""jpush":{"notification":"x"}"#, "/jpush/notification: must be an object, is a string"),
      (
        #""jpush":{"notification":{"ios":[1]}}"#,
        "/jpush/notification/ios: must be an object, is an array"
      ),
      (#""jpush":{"options":1}"#, "/jpush/options: must be an object, is a number"),
      (
        #""jpush":{"options":{"apns_production":true}}"#,
        "/jpush/options/apns_production: must be left out: the environment of each installation"
      ),
    ])
  func part(fields: String, expected: String) {
    let complaint = Self.complaint(fields: fields)
    #expect(complaint.contains(expected), "\(complaint)")
  }

  @Test("a job of too many bytes is refused before it is read, however deep it is")
  func size() {
    let large = [UInt8](repeating: UInt8(ascii: "["), count: 64 * 1024 * 1024)
    #expect(Self.complaint(large) == "a job is at most 16777216 bytes of JSON, this is 67108864")
    #expect(
      Self.complaint([UInt8](repeating: UInt8(ascii: "["), count: 1_000_000))
        == "not valid JSON at byte 64: is nested deeper than 64 levels")
  }

  @Test("a complaint repeats only a bounded part of what the producer wrote")
  func boundedComplaints() {
    let long = String(repeating: "x", count: 100_000)
    for fields in [
      "\"\(long)\":1", "\"on_unknown\":\"\(long)\"", "\"expires_at\":\"\(long)\"",
      "\"notification\":{\"data\":{\"\(long)\":\"\"}}",
    ] {
      #expect(Self.complaint(fields: fields).utf8.count < 1_000)
    }
    let names = (0..<1_000).map { "\"\(long.prefix(100))\($0)\":1" }.joined(separator: ",")
    #expect(Self.complaint("{\"app\":\"s\",\"audience\":{\(names)}}").utf8.count < 1_000)
  }
}

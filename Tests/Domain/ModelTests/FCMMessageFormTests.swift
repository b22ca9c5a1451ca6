import Testing

@testable import Model

/// FCM refuses a message of another form than its own from every device; so does admission, once.
@Suite struct FCMMessageFormTests {
  private static func job(
    _ message: String, audience: String = #"{"users":["u"]}"#, more: String = ""
  ) throws -> Job {
    try Job(
      text: #"{"app":"shop","audience":\#(audience),"fcm":{"message":\#(message)}\#(more)}"#)
  }

  /// The message as the job keeps it.
  private static func kept(_ message: String) throws -> JSONValue {
    .object(try #require(try job(message).content.fcm?.message))
  }

  private static func complaint(_ message: String) -> String {
    do {
      _ = try job(message)
      return "accepted"
    } catch { return "\(error)" }
  }

  @Test func `every documented field is taken as it is`() throws {
    let message = """
      {"data": {"k": "v"}, "notification": {"title": "t", "body": "b", "image": "i"},
       "android": {"collapse_key": "c", "priority": "high", "ttl": "3600.5s",
        "restricted_package_name": "p", "data": {"k": "v"}, "direct_boot_ok": true,
        "bandwidth_constrained_ok": false, "restricted_satellite_ok": true,
        "fcm_options": {"analytics_label": "a"},
        "notification": {"title": "t", "icon": "i", "color": "#ff0000", "sound": "s", "tag": "t",
         "click_action": "c", "body_loc_key": "b", "body_loc_args": ["a", "b"],
         "title_loc_key": "t", "title_loc_args": [], "channel_id": "c", "ticker": "t",
         "sticky": true, "event_time": "2026-11-21T09:30:00.25Z", "local_only": true,
         "notification_priority": "PRIORITY_MAX", "default_sound": true,
         "default_vibrate_timings": false, "default_light_settings": false,
         "vibrate_timings": ["0.5s", "1s"], "visibility": "SECRET", "notification_count": 3,
         "light_settings": {"color": {"red": 1, "green": 0.5, "blue": 0, "alpha": 1e-1},
          "light_on_duration": "1s", "light_off_duration": "0s"},
         "image": "i", "bypass_proxy_notification": true, "proxy": "IF_PRIORITY_LOWERED"}},
       "webpush": {"headers": {"TTL": "60"}, "data": {"from": "v"},
        "notification": {"actions": [{"n": 1}], "x": null},
        "fcm_options": {"link": "l", "analytics_label": "a"}},
       "apns": {"headers": {"apns-priority": "5"}, "payload": {"aps": {"badge": 1}},
        "fcm_options": {"analytics_label": "a", "image": "i"}},
       "fcm_options": {"analytics_label": "a"}}
      """
    #expect(try Self.kept(message) == JSONParser().parse(message))
  }

  @Test func `a field in camel case is the documented one`() throws {
    #expect(
      try Self.kept(#"{"fcmOptions":{"analyticsLabel":"a"},"android":{"collapseKey":"k"}}"#)
        == JSONParser().parse(
          #"{"fcm_options":{"analytics_label":"a"},"android":{"collapse_key":"k"}}"#))
    #expect(
      Self.complaint(#"{"android":{"collapseKey":"a","collapse_key":"b"}}"#)
        == "/fcm/message/android/collapse_key: is there twice, as collapse_key and in camel case: "
        + "keep one of them")
  }

  @Test func `a field that is null is as good as none`() throws {
    let message = #"{"notification":null,"android":{"ttl":null}}"#
    #expect(try Self.kept(message) == JSONParser().parse(message))
  }

  @Test func `an empty array is an empty object where one may stand`() throws {
    let arrays = """
      {"data":[],"android":[],"webpush":{"headers":[],"data":[],"notification":[]},
       "apns":{"payload":[],"headers":[]},"fcm_options":[]}
      """
    let objects = arrays.split(separator: "[]").joined(separator: "{}")
    #expect(try Self.kept(arrays) == JSONParser().parse(objects))
    #expect(try Self.kept("[]") == JSONParser().parse("{}"))
  }

  @Test(
    arguments: [
      (#"{"token":"x"}"#, "token: must be left out: the job's audience says who receives it"),
      (#"{"fid":"x"}"#, "fid: must be left out: the job's audience says who receives it"),
      (#"{"topic":"x"}"#, "topic: must be left out: the job's audience says who receives it"),
      (#"{"condition":null}"#, "condition: must be left out"),
      (
        #"{"apns":{"live_activity_token":"x"}}"#,
        "apns/live_activity_token: is of one device: give it in a job whose audience is this one"
      ),
      (#"{"andriod":{}}"#, #"andriod: is not a known field; did you mean "android"?"#),
      (
        #"{"android":{"notification":{"channel":"x"}}}"#,
        #"android/notification/channel: is not a known field; did you mean "channel_id"?"#
      ),
      (#"{"name":"x"}"#, "name: is not a known field"),
      (#"{"tokens":"x"}"#, "tokens: is not a known field; known here: data, notification,"),
      (#"{"android":{"data":{"k":1}}}"#, "android/data/k: must be a string, is a number"),
      (#"{"android":{"data":{"from":"x"}}}"#, "android/data/from: "),
      (
        #"{"webpush":{"data":{"k":{"n":"x"}}}}"#,
        "webpush/data/k: must be a string, is an object: FCM carries strings only here"
      ),
      (#"{"webpush":{"headers":{"TTL":60}}}"#, "webpush/headers/TTL: must be a string"),
      (#"{"apns":{"headers":{"apns-priority":5}}}"#, "apns/headers/apns-priority: must be a"),
      (#"{"data":{"k":null}}"#, "data/k: must be a string, is null"),
      (#"{"android":{"ttl":3600}}"#, "android/ttl: must be a string of 0 to 2419200 seconds"),
      (#"{"android":{"ttl":"3600"}}"#, #"such as "3600s", is "3600""#),
      (#"{"android":{"ttl":"-1s"}}"#, #"is "-1s""#),
      (#"{"android":{"ttl":"2419201s"}}"#, #"is "2419201s""#),
      (#"{"android":{"ttl":"2419200.1s"}}"#, #"is "2419200.1s""#),
      (#"{"android":{"ttl":"1.1234567891s"}}"#, #"is "1.1234567891s""#),
      (#"{"android":{"ttl":"1..s"}}"#, #"is "1..s""#),
      (#"{"android":{"ttl":"s"}}"#, #"is "s""#),
      (#"{"android":{"ttl":"{{ttl}}"}}"#, #"is "{{ttl}}""#),
      (
        #"{"android":{"priority":"urgent"}}"#,
        #"android/priority: must be one of NORMAL, HIGH, is "urgent""#
      ),
      (#"{"android":{"priority":10}}"#, "android/priority: must be one of NORMAL, HIGH, is 10"),
      (#"{"android":{"priority":"h\u0131gh"}}"#, "android/priority: must be one of NORMAL, HIGH"),
      (#"{"android":{"direct_boot_ok":"true"}}"#, "android/direct_boot_ok: must be true or"),
      (
        #"{"android":{"notification":{"notification_count":1.5}}}"#,
        "notification_count: must be a whole number from -2147483648 to 2147483647, is 1.5"
      ),
      (#"{"android":{"notification":{"notification_count":2147483648}}}"#, "is 2147483648"),
      (#"{"android":{"notification":{"event_time":"tomorrow"}}}"#, "must be an RFC 3339 instant"),
      (#"{"android":{"notification":{"body_loc_args":"a"}}}"#, "body_loc_args: must be an array"),
      (#"{"android":{"notification":{"body_loc_args":[1]}}}"#, "body_loc_args/0: must be a str"),
      (#"{"android":{"notification":{"vibrate_timings":[1]}}}"#, "vibrate_timings/0: must be"),
      (#"{"notification":"t"}"#, "notification: must be an object, is a string"),
      (#"{"notification":{"badge":1}}"#, "notification/badge: is not a known field"),
      (#"{"android":[1]}"#, "android: must be an object, is an array"),
      (#"{"webpush":{"notification":{"a":[1e400]}}}"#, "webpush/notification/a/0: is a number"),
      (#"{"apns":{"payload":{"a":-1e400}}}"#, "apns/payload/a: is a number beyond all"),
    ])
  func `what FCM would refuse is refused with its place`(message: String, expected: String) {
    let complaint = Self.complaint(message)
    #expect(complaint.hasPrefix("/fcm/message"), "\(complaint)")
    #expect(complaint.contains(expected), "\(complaint)")
  }

  @Test(arguments: [
    #"{"android":{"data":{"type":"chat","t":"1"}}}"#, #"{"webpush":{"data":{"from":"x"}}}"#,
    #"{"android":{"notification":{"notification_count":"5","notification_priority":5}}}"#,
    #"{"android":{"notification":{"notification_count":3.0,"event_time":null}}}"#,
    #"{"android":{"notification":{"light_settings":{"color":{"red":"0.5"}}}}}"#,
    #"{"data":null}"#,
  ])
  func `what FCM takes in another form than documented is taken`(message: String) {
    #expect(Self.complaint(message) == "accepted")
  }

  @Test func `a placeholder may stand for a number where texts are filled in`() throws {
    let message =
      #"{"android":{"ttl":"{{t}}s","notification":{"notification_count":"{{n}}"}}}"#
    #expect(Self.complaint(message).contains(#"is "{{t}}s""#))
    _ = try Self.job(message, more: #","variables_key":"values""#)
  }

  @Test func `what is of one device may go to one`() throws {
    let message = #"{"apns":{"live_activity_token":"x"}}"#
    let one = #"{"network":"fcm","token":"fcm-token:1"}"#
    _ = try Self.job(message, audience: #"{"installations":[\#(one)]}"#)
    let other = #"{"network":"fcm","token":"fcm-token:2"}"#
    #expect(throws: InvalidField.self) {
      try Self.job(message, audience: #"{"installations":[\#(one),\#(other)]}"#)
    }
  }

  @Test func `half a surrogate pair makes a job no JSON, and no field is named`() {
    #expect(
      throws: InvalidField(
        pointer: "", message: "not valid JSON at byte 78: a high surrogate stands alone")
    ) { try Self.job(#"{"data":{"k":"\ud83d"}}"#) }
  }

  @Test func `what an older version has admitted is read as it is`() throws {
    let stored = #"{"fcm":{"message":{"android":{"ttl":3600},"fid":"x"}}}"#
    let content = try JobContent(bytes: Array(stored.utf8))
    #expect(content.fcm?.message["fid"] == .string("x"))
  }
}

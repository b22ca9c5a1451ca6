/// The form of FCM's `Message` (firebase.google.com, "REST Resource: projects.messages"), as a job may give it.
///
/// FCM refuses a message of another form from every device, so a job with one is refused at once.
indirect enum FCMMessageForm: Sendable {
  case text, flag, whole, number
  /// Strings under any names; `isData` where some names are reserved.
  case texts(isData: Bool)
  case list(FCMMessageForm)
  /// Seconds as in "3600s" and "0.5s", with the most there may be.
  case duration(secondsMax: Int)
  case instant
  /// One of these names, in upper or lower case.
  case choice([String])
  /// The names as FCM documents them; its JSON reader also takes them in camel case.
  case object([(name: String, form: FCMMessageForm)])
  /// An object for the receiver's browser or Apple's network, which FCM passes on.
  case passedOn
  /// A field of FCM's that no job may have; why.
  case leftOut(String)

  static let message: FCMMessageForm = .object([
    ("token", target), ("fid", target), ("topic", target), ("condition", target),
    ("data", .texts(isData: true)),
    ("notification", .object([("title", .text), ("body", .text), ("image", .text)])),
    ("android", android), ("webpush", webpush), ("apns", apns), ("fcm_options", options),
  ])

  private static let target: FCMMessageForm = .leftOut(
    "the job's audience says who receives it")

  private static let options: FCMMessageForm = .object([("analytics_label", .text)])

  private static let android: FCMMessageForm = .object([
    ("collapse_key", .text), ("priority", .choice(["NORMAL", "HIGH"])),
    ("ttl", .duration(secondsMax: Limits.ttlSecondsMax)), ("restricted_package_name", .text),
    ("data", .texts(isData: true)), ("notification", androidNotification),
    ("fcm_options", options), ("direct_boot_ok", .flag), ("bandwidth_constrained_ok", .flag),
    ("restricted_satellite_ok", .flag),
  ])

  private static let androidNotification: FCMMessageForm = .object([
    ("title", .text), ("body", .text), ("icon", .text), ("color", .text), ("sound", .text),
    ("tag", .text), ("click_action", .text), ("body_loc_key", .text),
    ("body_loc_args", .list(.text)), ("title_loc_key", .text), ("title_loc_args", .list(.text)),
    ("channel_id", .text), ("ticker", .text), ("sticky", .flag), ("event_time", .instant),
    ("local_only", .flag), ("notification_priority", .choice(priorities)),
    ("default_sound", .flag), ("default_vibrate_timings", .flag),
    ("default_light_settings", .flag),
    ("vibrate_timings", .list(.duration(secondsMax: protobufSecondsMax))),
    ("visibility", .choice(["VISIBILITY_UNSPECIFIED", "PRIVATE", "PUBLIC", "SECRET"])),
    ("notification_count", .whole), ("light_settings", lightSettings), ("image", .text),
    ("bypass_proxy_notification", .flag),
    ("proxy", .choice(["PROXY_UNSPECIFIED", "ALLOW", "DENY", "IF_PRIORITY_LOWERED"])),
  ])

  private static let priorities = [
    "PRIORITY_UNSPECIFIED", "PRIORITY_MIN", "PRIORITY_LOW", "PRIORITY_DEFAULT", "PRIORITY_HIGH",
    "PRIORITY_MAX",
  ]

  private static let lightSettings: FCMMessageForm = .object([
    (
      "color",
      .object([("red", .number), ("green", .number), ("blue", .number), ("alpha", .number)])
    ),
    ("light_on_duration", .duration(secondsMax: protobufSecondsMax)),
    ("light_off_duration", .duration(secondsMax: protobufSecondsMax)),
  ])

  private static let webpush: FCMMessageForm = .object([
    ("headers", .texts(isData: false)), ("data", .texts(isData: false)),
    ("notification", .passedOn),
    ("fcm_options", .object([("link", .text), ("analytics_label", .text)])),
  ])

  private static let apns: FCMMessageForm = .object([
    ("headers", .texts(isData: false)), ("payload", .passedOn),
    ("fcm_options", .object([("analytics_label", .text), ("image", .text)])),
    (
      "live_activity_token",
      .leftOut("it is of one device, and the message goes to each of the audience")
    ),
  ])

  /// The longest `google.protobuf.Duration`, by its definition.
  private static let protobufSecondsMax = 315_576_000_000
}

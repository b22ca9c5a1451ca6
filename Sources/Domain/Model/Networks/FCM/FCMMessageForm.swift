/// The form of FCM's `Message` (firebase.google.com, "REST Resource: projects.messages"), as a job may give it.
///
/// FCM refuses a message of another form from every device, so a job with one is refused at once.
indirect enum FCMMessageForm: Sendable {
  typealias Field = (name: String, form: FCMMessageForm)

  case text, flag, number
  /// A number that a 32-bit integer holds.
  case whole
  /// Strings under names that keep a rule.
  case texts(NameRule)
  case list(FCMMessageForm)
  /// Seconds as in "3600s" and "0.5s", with the most there may be.
  case duration(secondsMax: Int)
  case instant
  /// One of these names, or its number.
  case choice([String])
  case object([Field])
  /// An object for the receiver's browser or Apple's network, which FCM passes on.
  case passedOn
  /// Who receives the message: the worker says it.
  case target
  /// A text that differs from device to device.
  case ofOneDevice

  /// Which names texts may have.
  enum NameRule: Sendable {
    /// Any: they are a browser's, or names of headers.
    case free
    /// Names that neither FCM nor the receivers of topic messages and events reserve.
    case common
    /// Names that FCM does not reserve.
    case network

    func refusal(of name: String) -> String? {
      if self == .free { return nil }
      do { try TextRule.check(name, bytesMax: Limits.dataKeyBytesMax) } catch {
        return "the name \(error.message)"
      }
      return self == .common
        ? ReservedDataKeys.reason(name) : ReservedDataKeys.networkReason(name)
    }
  }

  var isTarget: Bool { if case .target = self { true } else { false } }

  /// Whether a placeholder may stand in the place of what is no text to FCM.
  var takesPlaceholders: Bool {
    switch self {
    case .number, .whole, .duration, .instant, .choice: true
    default: false
    }
  }

  static let message: [Field] = [
    ("token", .target), ("fid", .target), ("topic", .target), ("condition", .target),
    ("data", .texts(.common)),
    ("notification", .object([("title", .text), ("body", .text), ("image", .text)])),
    ("android", android), ("webpush", webpush), ("apns", apns), ("fcm_options", options),
  ]

  private static let options: FCMMessageForm = .object([("analytics_label", .text)])

  private static let android: FCMMessageForm = .object([
    ("collapse_key", .text), ("priority", .choice(["NORMAL", "HIGH"])),
    ("ttl", .duration(secondsMax: Limits.ttlSecondsMax)), ("restricted_package_name", .text),
    ("data", .texts(.network)), ("notification", androidNotification),
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
    ("headers", .texts(.free)), ("data", .texts(.free)),
    ("notification", .passedOn),
    ("fcm_options", .object([("link", .text), ("analytics_label", .text)])),
  ])

  private static let apns: FCMMessageForm = .object([
    ("headers", .texts(.free)), ("payload", .passedOn),
    ("fcm_options", .object([("analytics_label", .text), ("image", .text)])),
    ("live_activity_token", .ofOneDevice),
  ])

  /// The longest `google.protobuf.Duration`, by its definition.
  private static let protobufSecondsMax = 315_576_000_000
}

internal import Model

/// The limits and closed sets of words of the functions for registration, as tables of Lua: the constants of the program are
/// their one home.
enum RegistrationRules {
  /// Bytes of tokens and records that one answer tells in full; the one that goes beyond it is told, too.
  static let answerBytesMax = 64 * 1024

  /// The fields that an uninstall may name.
  static let uninstallFields = ["app", "network", "token", "user"]
  /// The fields that a question for devices may name.
  static let devicesFields = ["app", "user"]

  private static let numbers: [(String, Int)] = [
    ("depth_max", Limits.jsonDepthMax), ("number_bytes_max", Limits.jsonNumberBytesMax),
    ("quoted_bytes_max", Limits.quotedTextBytesMax),
    ("document_bytes_max", Limits.installationBytesMax),
    ("values_max", Limits.installationValuesMax),
    ("app_bytes_max", Limits.appBytesMax), ("user_bytes_max", Limits.userBytesMax),
    ("object_id_bytes_max", Limits.objectIDBytesMax), ("topic_bytes_max", Limits.topicBytesMax),
    ("time_zone_bytes_max", Limits.timeZoneBytesMax),
    ("language_bytes_max", Limits.languageBytesMax), ("badge_max", Limits.badgeMax),
    ("instant_ms_max", Int(Limits.instantMsMax)),
    ("recent_instant_ms_min", Int(Limits.recentInstantMsMin)),
    ("channels_max", Limits.channelsMax), ("channel_bytes_max", Limits.channelBytesMax),
    ("custom_fields_max", Limits.customFieldsMax),
    ("custom_name_bytes_max", Limits.customNameBytesMax),
    ("custom_value_bytes_max", Limits.customValueBytesMax), ("answer_bytes_max", answerBytesMax),
    ("job_id_bytes_max", Limits.jobIDBytesMax),
    ("submitted_bytes_max", StoreLimits.submittedBytesMax),
    ("submitted_name_s", StoreLimits.submittedNameSeconds),
  ]

  private static let texts: [(String, Int)] = [
    ("device_type", Limits.deviceTypeBytesMax), ("app_name", Limits.appNameBytesMax),
    ("app_version", Limits.versionBytesMax), ("os_version", Limits.versionBytesMax),
    ("sdk_version", Limits.versionBytesMax),
  ]

  /// The tables LIMIT, of what Audiences/index.lua and Installations/bindings.lua ask for here, and RULE.
  static var lua: String {
    """

    local LIMIT = {
      INSTALLATIONS_PER_USER_MAX = \(Limits.installationsPerUserMax),
      NOTICES_MAX = \(StoreLimits.noticesMax),
      BLOCK_MAX = \(StoreLimits.indexBlockMax),
      DEPARTED_MS = \(StoreLimits.departedMs),
      DEPARTED_MAX = \(StoreLimits.departedMax),
      DEPARTED_TOKEN_BYTES_MAX = \(StoreLimits.departedTokenBytesMax),
    }

    local RULE = {
    \(numbers.map { "  \($0.0) = \($0.1),\n" }.joined())\
      networks = \(words(Network.allCases.map(\.rawValue))),
      any_network = \(quoted(Network.alternatives)),
      tokens = {
    \(Network.allCases.map(token).joined())\
      },
      environments = \(words(PushEnvironment.allCases.map(\.rawValue))),
      kinds = \(words(TokenKind.allCases.map(\.rawValue))),
      texts = {\(texts.map { "{name = '\($0.0)', bytes_max = \($0.1)}" }.joined(separator: ", "))},
      fields = {
        installation = \(words(Installation.fields)),
        uninstall = \(words(uninstallFields)),
        devices = \(words(devicesFields)),
        subscription = \(words(Subscription.fields)),
      },
    }

    """
  }

  /// The rule for a network's tokens.
  private static func token(of network: Network) -> String {
    let rule = network.traits.token
    let checks = rule.checks.map { check in
      "{\(check.lua), sentence = \(quoted(rule.sentence(check)))}"
    }
    return "    \(network.rawValue) = {owner = \(quoted(rule.owner)), "
      + "min = \(rule.bytes.lowerBound), max = \(rule.bytes.upperBound), "
      + "is_lowercased = \(rule.isLowercased), checks = {\(checks.joined(separator: ", "))}},\n"
  }

  private static func words(_ list: [String]) -> String {
    "{\(list.map { "'\($0)'" }.joined(separator: ", "))}"
  }

  /// A sentence as a text of Lua.
  private static func quoted(_ text: String) -> String {
    var quoted = "'"
    for character in text {
      if character == "'" || character == "\\" { quoted += "\\" }
      quoted.append(character)
    }
    return quoted + "'"
  }
}

internal import Model

/// The shapes of device tokens in the API's document, by the rules of their networks.
enum TokenSchema {
  /// A token of any network.
  static func any(_ description: String) -> JSONValue {
    InstallationSchema.word(otherCharacters, bytes: DeviceToken.bytesOfAny, description)
  }

  /// The characters of all networks' tokens beside letters and digits, a hyphen last.
  private static let otherCharacters: String = {
    var others = ""
    for network in Network.allCases {
      for character in network.traits.token.otherCharacters where !others.contains(character) {
        others.append(character)
      }
    }
    guard others.contains("-") else { return others }
    return others.filter { $0 != "-" } + "-"
  }()

  /// A token is of its network's form, and only those of APNs have kinds.
  static let rules: [JSONValue] = Network.allCases.map(rule) + [kinds]

  private static func rule(_ network: Network) -> JSONValue {
    let rule = network.traits.token
    return [
      "if": [
        "properties": ["network": ["const": .string(network.rawValue)]],
        "required": .array([.string("network")]),
      ],
      "then": [
        "properties": [
          "token": [
            "minLength": .integer(rule.bytes.lowerBound),
            "maxLength": .integer(rule.bytes.upperBound),
            "pattern": .string(rule.pattern),
          ]
        ]
      ],
    ]
  }

  private static let kinds: JSONValue = {
    let others = Network.allCases.filter { $0 != .apns }.map { JSONValue.string($0.rawValue) }
    return [
      "if": [
        "properties": ["network": ["enum": .array(others)]],
        "required": .array([.string("network")]),
      ],
      "then": ["properties": ["kind": ["const": .string("alert")]]],
    ]
  }()
}

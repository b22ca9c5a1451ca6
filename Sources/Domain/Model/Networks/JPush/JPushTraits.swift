extension NetworkTraits {
  /// JPush (Aurora).
  static let jpush = NetworkTraits(
    displayName: "JPush",
    hasAccountPerEnvironment: false,
    token: TokenRule(
      owner: "a JPush", name: "registration ID",
      bytes: 4...128,
      otherCharacters: "",
      checks: [.word(others: "")],
      pattern: "^[A-Za-z0-9]+$"),
    absentToken: String(repeating: "0", count: 19),
    checksRequests: true,
    sendableField: "jpush")
}

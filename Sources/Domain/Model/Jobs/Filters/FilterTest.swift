/// The test of a field's value that decides whether a condition holds.
enum FilterTest: Sendable, Equatable {
  case networks([Network])
  case environments([PushEnvironment])
  /// One of these, byte for byte.
  case texts([[UInt8]])
  /// The value is a list, a line for each element, and holds one of these.
  case members([[UInt8]])
  /// In one of these ranges of languages.
  case languages([LanguageTag])
  case version(VersionRange)

  /// Whether it holds of a value that an installation's record has; never of a network or environment, which no record
  /// field holds.
  func holds(of value: UnsafeRawBufferPointer) -> Bool {
    switch self {
    case .networks, .environments: false
    case .texts(let texts): texts.contains { $0.elementsEqual(value) }
    case .members(let names):
      value.split(separator: UInt8(ascii: "\n")).contains { member in
        names.contains { $0.elementsEqual(member) }
      }
    case .languages(let ranges): ranges.contains { $0.covers(value) }
    case .version(let range): DottedVersion(leading: value).map(range.contains) ?? false
    }
  }
}

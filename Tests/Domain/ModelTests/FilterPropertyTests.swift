import Testing

@testable import Model

/// Random filters against random installations, judged by a model that reads the filter's JSON by itself.
@Suite struct FilterPropertyTests {
  /// SplitMix64.
  private struct Dice: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var z = state
      z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
      z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
      return z ^ (z >> 31)
    }

    mutating func some<Value>(of values: [Value], max: Int) -> [Value] {
      Array(values.shuffled(using: &self).prefix(Int.random(in: 1...max, using: &self)))
    }

    mutating func maybe<Value>(_ values: [Value]) -> Value? {
      Bool.random(using: &self) ? values.randomElement(using: &self) : nil
    }
  }

  private static let texts: [String: [String]] = [
    "network": ["apns", "fcm", "jpush"], "environment": ["production", "development"],
    "device_type": ["phone", "tablet", "Phone"],
    "language": ["zh", "zh-Hant", "zh-Hant-TW", "zha", "en", "EN_us"],
    "time_zone": ["Asia/Tokyo", "Europe/Berlin"], "channel": ["a", "b", "ab"],
  ]
  private static let versions = ["2", "2.0", "2.9", "2.10", "2.10.1", "10", "0"]
  private static let installedVersions = versions + ["2.9-rc1", "beta", "2.10 (7)"]
  private static let custom = ["plan": ["free", "pro", ""], "tier": ["1", "2"]]

  private static func conditions(_ dice: inout Dice) -> JSONObject {
    var object = JSONObject()
    for (name, values) in texts.sorted(by: { $0.key < $1.key })
    where Int.random(in: 0..<4, using: &dice) == 0 {
      object[name] = .array(dice.some(of: values, max: values.count).map { .string($0) })
    }
    for name in ["app_version", "os_version", "sdk_version"]
    where Int.random(in: 0..<4, using: &dice) == 0 {
      var range = JSONObject()
      for relation in dice.some(of: [">=", ">", "<=", "<", "="], max: 2) {
        range[relation] = .string(versions.randomElement(using: &dice)!)
      }
      object[name] = .object(range)
    }
    if Int.random(in: 0..<3, using: &dice) == 0 {
      var fields = JSONObject()
      for name in dice.some(of: ["plan", "tier"], max: 2) {
        fields[name] = .array(dice.some(of: custom[name]!, max: 2).map { .string($0) })
      }
      object["custom"] = .object(fields)
    }
    return object
  }

  private static func installation(_ dice: inout Dice) -> Installation {
    var installation = Installation(
      app: "shop", user: "u",
      token: DeviceToken(stored: "aa", network: Network.allCases.randomElement(using: &dice)!),
      environment: PushEnvironment.allCases.randomElement(using: &dice)!)
    installation.device.type = dice.maybe(texts["device_type"]!)
    installation.device.language = dice.maybe(texts["language"]!)
    installation.device.timeZone = dice.maybe(texts["time_zone"]!)
    installation.device.appVersion = dice.maybe(installedVersions)
    installation.device.osVersion = dice.maybe(installedVersions)
    installation.device.sdkVersion = dice.maybe(installedVersions)
    if Bool.random(using: &dice) {
      installation.channels = dice.some(of: ["a", "b", "ab"], max: 3)
    }
    for (name, values) in custom { installation.custom[name] = dice.maybe(values) }
    return installation
  }

  // MARK: The model

  private static func numbers(_ text: String) -> [Int]? {
    let front = text.prefix { $0.isNumber || $0 == "." }
    let numbers = front.split(separator: ".").compactMap { Int($0) }
    return numbers.isEmpty ? nil : numbers + Array(repeating: 0, count: 8 - numbers.count)
  }

  private static func holds(_ name: String, _ wanted: JSONValue, _ device: Installation) -> Bool {
    let values = Set((wanted.arrayValue ?? []).compactMap(\.stringValue))
    func version(_ text: String?) -> Bool {
      guard let text, let installed = numbers(text) else { return false }
      return wanted.objectValue!.members.allSatisfy { member in
        let bound = numbers(member.value.stringValue!)!
        let isLess = installed.lexicographicallyPrecedes(bound)
        return switch member.name {
        case ">=": !isLess
        case ">": !isLess && installed != bound
        case "<=": isLess || installed == bound
        case "<": isLess
        default: installed == bound
        }
      }
    }
    switch name {
    case "network": return values.contains(device.token.network.rawValue)
    case "environment": return values.contains(device.environment.rawValue)
    case "device_type": return device.device.type.map(values.contains) ?? false
    case "time_zone": return device.device.timeZone.map(values.contains) ?? false
    case "language":
      guard let language = device.device.language?.lowercased().replacing("_", with: "-") else {
        return false
      }
      return values.contains { value in
        let range = value.lowercased().replacing("_", with: "-")
        return language == range || language.hasPrefix(range + "-")
      }
    case "channel": return !values.isDisjoint(with: device.channels)
    case "app_version": return version(device.device.appVersion)
    case "os_version": return version(device.device.osVersion)
    default: return version(device.device.sdkVersion)
    }
  }

  /// Each condition of an object, and whether it holds.
  private static func held(_ object: JSONObject, _ device: Installation) -> [Bool] {
    object.members.flatMap { member -> [Bool] in
      guard member.name == "custom" else { return [holds(member.name, member.value, device)] }
      return member.value.objectValue!.members.map { custom in
        device.custom[custom.name].map { text in
          custom.value.arrayValue!.contains { $0.stringValue == text }
        } ?? false
      }
    }
  }

  @Test("a filter admits whom the model admits", arguments: 0..<8 as Range<UInt64>)
  func agrees(seed: UInt64) throws {
    var dice = Dice(state: seed)
    var admitted = 0
    for _ in 0..<400 {
      var object = conditionsOrNetwork(&dice)
      if Bool.random(using: &dice) {
        let excluded = Self.conditions(&dice)
        if !excluded.isEmpty { object["not"] = .object(excluded) }
      }
      let filter = try InstallationFilter(json: .object(object), at: "/filter")
      #expect(try InstallationFilter(json: filter.json(), at: "/filter") == filter)
      let matcher = FilterMatcher(filter)
      for _ in 0..<5 {
        let device = Self.installation(&dice)
        var required = object
        required["not"] = nil
        let excluded = object["not"]?.objectValue ?? JSONObject()
        let expected =
          Self.held(required, device).allSatisfy { $0 }
          && !Self.held(excluded, device).contains(true)
        #expect(matcher.admits(device) == expected, "\(object) \(device)")
        admitted += expected ? 1 : 0
      }
    }
    #expect((100..<1_900).contains(admitted))
  }

  private func conditionsOrNetwork(_ dice: inout Dice) -> JSONObject {
    let object = Self.conditions(&dice)
    return object.isEmpty ? ["network": .array([.string("apns")])] : object
  }
}

extension FilterMatcher {
  /// Whether the job is for an installation that is known as a whole.
  package func admits(_ installation: Installation) -> Bool {
    var bytes: [UInt8] = []
    let ranges: [Range<Int>?] = fields.map { field in
      guard let text = installation.text(of: field) else { return nil }
      let start = bytes.count
      bytes += text.utf8
      return start..<bytes.count
    }
    return bytes.withUnsafeBytes { all in
      admits(installation.token.network, installation.environment) { position in
        ranges[position].map { UnsafeRawBufferPointer(rebasing: all[$0]) }
      }
    }
  }
}

extension Installation {
  /// A field as the installation's record holds it; nil when it lacks the field.
  fileprivate func text(of field: FilterField) -> String? {
    switch field {
    case .network: token.network.rawValue
    case .environment: environment.rawValue
    case .deviceType: device.type
    case .language: device.language
    case .timeZone: device.timeZone
    case .appVersion: device.appVersion
    case .osVersion: device.osVersion
    case .sdkVersion: device.sdkVersion
    case .channel: channels.isEmpty ? nil : channels.joined(separator: "\n")
    case .custom(let name): custom[name]
    }
  }
}

package import Model

/// One recipient of an `installations` segment:
/// `network \t environment \t token \t user \t generation \t attempt`, and behind it `\t badge` where the job has given the
/// installation one. Borrowed: valid as long as its bytes.
///
/// Lines of the `installations` audience carry neither environment nor user nor generation: those are read
/// when the line is sent. Residual lines carry what was read for the first attempt.
package struct InstallationLine {
  package let network: Network
  package let environment: PushEnvironment?
  package let token: UnsafeRawBufferPointer
  /// Empty when it is to be read from the token's record.
  package let user: UnsafeRawBufferPointer
  package let generation: UInt64?
  /// How often it was tried.
  package let attempt: Int
  /// The badge that the job has given it; 0 when none.
  package let badge: Int32

  /// Whether a line of a `users` segment is an installation: a user id holds no control characters.
  package static func isOne(_ line: UnsafeRawBufferPointer) -> Bool {
    line.offset(of: UInt8(ascii: "\t")) != nil
  }

  /// Nil when the line is malformed.
  package init?(_ line: UnsafeRawBufferPointer) {
    var fields = TabFields(line)
    guard let network = fields.next().flatMap({ Network(spelt: $0) }),
      let environment = fields.next(), let token = fields.next(), !token.isEmpty,
      let user = fields.next(), let generation = fields.next(), let attempt = fields.nextNumber()
    else { return nil }
    if let text = fields.next() {
      guard let badge = decimal(text).flatMap({ Int32(exactly: $0) }) else { return nil }
      self.badge = badge
    } else {
      badge = 0
    }
    guard fields.next() == nil else { return nil }
    self.network = network
    self.environment = PushEnvironment(spelt: environment)
    self.token = token
    self.user = user
    self.generation = generation.isEmpty ? nil : decimal(generation)
    self.attempt = Int(min(attempt, StoreLimits.attemptsToldMax))
    let isEnvironmentKnown = environment.isEmpty || self.environment != nil
    let isGenerationKnown = generation.isEmpty || self.generation != nil
    guard isEnvironmentKnown, isGenerationKnown else { return nil }
  }

  /// Writes a line that is to be resolved when it is sent.
  package static func append(_ token: DeviceToken, to segment: inout [UInt8]) {
    var text = token.text
    text.withUTF8 {
      append(
        network: token.network, environment: nil, token: UnsafeRawBufferPointer($0),
        user: UnsafeRawBufferPointer(start: nil, count: 0), generation: nil, attempt: 0, badge: 0,
        to: &segment)
    }
  }

  package static func append(
    network: Network, environment: PushEnvironment?, token: UnsafeRawBufferPointer,
    user: UnsafeRawBufferPointer, generation: UInt64?, attempt: Int, badge: Int32,
    to segment: inout [UInt8]
  ) {
    let tab = UInt8(ascii: "\t")
    segment.append(contentsOf: network.rawValue.utf8)
    segment.append(tab)
    if let environment { segment.append(contentsOf: environment.rawValue.utf8) }
    segment.append(tab)
    segment.append(contentsOf: token)
    segment.append(tab)
    segment.append(contentsOf: user)
    segment.append(tab)
    if let generation { segment.append(contentsOf: String(generation).utf8) }
    segment.append(tab)
    segment.append(contentsOf: String(attempt).utf8)
    if badge > 0 {
      segment.append(tab)
      segment.append(contentsOf: String(badge).utf8)
    }
    segment.append(UInt8(ascii: "\n"))
  }
}

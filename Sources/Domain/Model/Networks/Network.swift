/// A push network. Lists of networks, in messages and in tables, are made of `allCases`.
///
/// The registry of this layer: what a network has of its own stands in a folder of its own, and is named here.
package enum Network: String, Sendable, Hashable, CaseIterable {
  case apns, fcm, jpush

  /// Its place in tables by network: below `allCases.count`.
  package var index: Int {
    switch self {
    case .apns: 0
    case .fcm: 1
    case .jpush: 2
    }
  }

  /// The words and rules that are its own.
  package var traits: NetworkTraits {
    switch self {
    case .apns: .apns
    case .fcm: .fcm
    case .jpush: .jpush
    }
  }

  /// A value for each network in each environment, by ``place(in:)``. It lies in what has it.
  package typealias Places<Value> = InlineArray<6, Value>

  /// Its place in tables by network and environment, from 0.
  package func place(in environment: PushEnvironment) -> Int {
    2 * index + (environment == .production ? 0 : 1)
  }

  /// Not by its name: that takes ten times as long, several times a job.
  package func hash(into hasher: inout Hasher) { hasher.combine(index) }
}

/// The parts of a job that are for one network alone.
package struct NetworkParts: Sendable, Equatable {
  package var apns: APNsPart?
  package var fcm: FCMPart?
  package var jpush: JPushPart?

  init() {}

  init(reader: FieldReader) throws(InvalidField) {
    apns = try APNsPart.read(reader)
    fcm = try FCMPart.read(reader)
    jpush = try JPushPart.read(reader)
  }

  func write(to object: inout JSONObject) {
    APNsPart.write(apns, to: &object)
    FCMPart.write(fcm, to: &object)
    JPushPart.write(jpush, to: &object)
  }

  package var isEmpty: Bool { apns == nil && fcm == nil && jpush == nil }

  /// Whether one of them is something to send by itself.
  var isSendable: Bool {
    apns?.isSendable == true || fcm?.isSendable == true || jpush?.isSendable == true
  }

  /// Whether there is something to send on a network, of its own or beside a common notification.
  func areFor(_ network: Network, beside notification: Notification?) -> Bool {
    switch network {
    case .apns: APNsPart.isFor(apns, beside: notification)
    case .fcm: FCMPart.isFor(fcm, beside: notification)
    case .jpush: JPushPart.isFor(jpush, beside: notification)
    }
  }

  /// Whether a network shows the badge of a common notification.
  static func showsBadge(of notification: Notification, on network: Network) -> Bool {
    switch network {
    case .apns: APNsPart.showsBadge(of: notification)
    case .fcm: FCMPart.showsBadge(of: notification)
    case .jpush: JPushPart.showsBadge(of: notification)
    }
  }

  /// Checks what is not asked any more of a job that was admitted.
  mutating func checkAdmission(of form: JobForm) throws(InvalidField) {
    try apns?.checkAdmission(of: form)
    try fcm?.checkAdmission(of: form)
    try jpush?.checkAdmission(of: form)
  }

  /// Puts marks in the place of placeholders, in all their texts.
  mutating func mark(_ table: inout PlaceholderTable) throws(InvalidField) {
    try apns?.mark(&table)
    try fcm?.mark(&table)
    try jpush?.mark(&table)
  }
}

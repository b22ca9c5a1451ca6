/// The content of a job, and the conditions under which it is sent. It holds all but who receives it, except for a
/// topic, which the message names.
package struct JobContent: Sendable, Equatable {
  package var notification: Notification?
  package var parts = NetworkParts()
  /// The common title and body in other languages, in the order of these.
  package var localized: [LocalizedText] = []
  /// The values that texts are filled with for each user; nil when they mean what they say.
  package var variables: Variables?
  /// In place of a notification, for apps and not for people.
  package var event: AppEvent?
  /// The topic whose subscribers receive it; nil for other audiences.
  package var topic: String?
  /// The channel whose installations receive it; nil for other audiences.
  package var channel: String?
  /// At most 64 bytes: a later push with the same one replaces this one on the device.
  package var collapseID: String?
  /// Which installations of the audience it is for; nil for all of them.
  package var filter: InstallationFilter?
  /// When which time zones receive it; nil when all do at once.
  package var schedule: LocalSchedule?
  package var expiry: Expiry?
  /// Which installations by environment; both unless the job names one, never empty.
  package var environments: Set<PushEnvironment>
  /// Everything but the push itself.
  package var dryRun: Bool
  package var unknownPolicy: UnknownPolicy
  /// Whether every attempt is recorded for `pushpool trace`, plain accepts included.
  package var trace: Bool

  package init(
    notification: Notification? = nil, event: AppEvent? = nil, collapseID: String? = nil,
    expiry: Expiry? = nil,
    environments: Set<PushEnvironment> = PushEnvironment.all, dryRun: Bool = false,
    unknownPolicy: UnknownPolicy = .resend, trace: Bool = false
  ) {
    self.notification = notification
    self.event = event
    self.collapseID = collapseID
    self.expiry = expiry
    self.environments = environments
    self.dryRun = dryRun
    self.unknownPolicy = unknownPolicy
    self.trace = trace
  }

  /// Which installations of the users in its audience it is for: the filter's, and of these a channel's; nil for all.
  package var receivers: InstallationFilter? {
    guard let channel else { return filter }
    let condition = FilterCondition(field: .channel, test: .members([Array(channel.utf8)]))
    return InstallationFilter(
      required: [condition] + (filter?.required ?? []), excluded: filter?.excluded ?? [])
  }

  /// Whether each installation gets a badge of its own.
  package var raisesBadge: Bool { notification?.badge == .next }

  /// Whether it says more of who receives it than that everybody does, with the token for alerts, or asks for a full
  /// trace: what is to be known where a trace says nothing of a device.
  package var tellsOfReceivers: Bool {
    trace || environments.count < PushEnvironment.allCases.count || apnsTokenKind != .alert
  }

  /// The HASH of the values that texts are filled in with; nil when they stand in the job, or nothing is filled in.
  package var variablesKey: String? {
    if case .key(let key)? = variables { key } else { nil }
  }
}

/// The policy for a connection that was lost after a push was written and before its answer came.
package enum UnknownPolicy: String, Sendable, Hashable, CaseIterable {
  /// Send again: the device may see the push twice, but never not at all.
  case resend
  /// Count it as failed: the device may not see the push, but never sees it twice.
  case giveUp = "give_up"
}

extension JobContent {
  /// Whether it has anything to say on a network: the common part, or that network's own.
  package func isFor(_ network: Network) -> Bool {
    event != nil || parts.areFor(network, beside: notification)
  }

  /// Whether an installation of the network gets a badge of its own.
  package func showsRaisedBadge(on network: Network) -> Bool {
    guard raisesBadge, let notification else { return false }
    return NetworkParts.showsBadge(of: notification, on: network)
  }
}

extension JobContent {
  /// Which of a user's tokens of APNs the job is for: each push type has its own.
  package var apnsTokenKind: TokenKind {
    switch apns?.pushType {
    case nil, .alert, .background, .mdm: .alert
    case .voip: .voip
    case .complication: .complication
    case .fileprovider: .fileProvider
    case .liveactivity: apns?.liveActivityEvent == .start ? .pushToStart : .liveActivity
    case .location: .location
    case .pushToTalk: .pushToTalk
    case .widgets: .widgets
    case .controls: .controls
    }
  }
}

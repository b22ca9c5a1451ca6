package import Model

/// An app as a record in Redis describes it: its accounts at the push networks and its rules, without its secrets.
package struct AppForm: Sendable, Equatable {
  package var apns: [PushEnvironment: APNs] = [:]
  package var fcm: FCM?
  package var jpush: JPush?
  package var rules = AppRules()

  package init() {}

  /// How a network is reached, where that is other than usual.
  package struct Access: Sendable, Equatable {
    package var endpoint: ServiceURL?
    /// Certificates of authorities to trust beside the system's, in PEM; nil for none.
    package var authorities: String?
    package var proxy: ProxyURL?
    /// The user at the proxy, whose password is a secret; nil for none.
    package var proxyUser: String?

    package init() {}
  }

  /// One environment of the app at APNs.
  package struct APNs: Sendable, Equatable {
    package enum Credential: Sendable, Equatable {
      /// A signing key, which is a secret.
      case token(keyID: String, teamID: String)
      /// A certificate with its key, which is a secret.
      case certificate
    }

    package var credential: Credential
    /// The app's bundle id.
    package var topic: String
    package var access: Access

    package init(credential: Credential, topic: String, access: Access = Access()) {
      self.credential = credential
      self.topic = topic
      self.access = access
    }
  }

  /// The app at FCM.
  package struct FCM: Sendable, Equatable {
    /// In place of the `token_uri` of the service account.
    package var tokenEndpoint: ServiceURL?
    /// The quota of the project.
    package var messagesPerMinute: Int
    package var access: Access

    package init(
      tokenEndpoint: ServiceURL? = nil,
      messagesPerMinute: Int = ConfigurationLimits.fcmMessagesPerMinuteUsual,
      access: Access = Access()
    ) {
      self.tokenEndpoint = tokenEndpoint
      self.messagesPerMinute = messagesPerMinute
      self.access = access
    }
  }

  /// The app at JPush.
  package struct JPush: Sendable, Equatable {
    package var appKey: String
    package var access: Access

    package init(appKey: String, access: Access = Access()) {
      self.appKey = appKey
      self.access = access
    }
  }

  /// The secrets that it cannot do without.
  package var requiredSecrets: [AppSecretName] {
    var names: [AppSecretName] = []
    for environment in PushEnvironment.allCases {
      guard let apns = apns[environment] else { continue }
      names.append(.apns(environment, apns.credential == .certificate ? .certificate : .key))
      if apns.access.proxyUser != nil { names.append(.apns(environment, .proxyPassword)) }
    }
    if let fcm {
      names.append(.fcm(.serviceAccount))
      if fcm.access.proxyUser != nil { names.append(.fcm(.proxyPassword)) }
    }
    if let jpush {
      names.append(.jpush(.masterSecret))
      if jpush.access.proxyUser != nil { names.append(.jpush(.proxyPassword)) }
    }
    return names
  }
}

/// The rules that an app is sent by, beside those of its networks.
package struct AppRules: Sendable, Equatable {
  /// How many pushes of it the fleet together begins in a second; nil for any number.
  package var pushesPerSecond: Int?
  /// How many jobs that tell of events in one bucket the fleet starts in a minute; 0 for any number.
  package var eventsPerMinute = ConfigurationLimits.eventsPerMinuteUsual
  /// Where the app is at home: what local time is for installations without a time zone; nil for UTC.
  package var timeZone: String?
  /// How long its jobs are kept.
  package var jobs = Jobs()

  package init() {}

  /// The settings for how long jobs are kept that an app has of its own; nil for those of all apps.
  package struct Jobs: Sendable, Equatable {
    package var retentionHours: Int?
    package var namedRetentionHours: Int?
    package var unnamedRetentionMinutes: Int?

    package init() {}

    /// The settings for its jobs; nil when it has none of its own.
    package func over(_ all: JobsConfiguration) -> JobsConfiguration? {
      guard self != Jobs() else { return nil }
      return JobsConfiguration(
        retentionHours: retentionHours ?? all.retentionHours,
        namedRetentionHours: namedRetentionHours ?? all.namedRetentionHours,
        unnamedRetentionMinutes: unnamedRetentionMinutes ?? all.unnamedRetentionMinutes)
    }
  }
}

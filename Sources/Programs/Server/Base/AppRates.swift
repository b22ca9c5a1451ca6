internal import Model
internal import PushpoolConfiguration
internal import Store

/// The rates that are set for an app, in the configuration file or in Redis.
struct AppRates: Sendable {
  let app: String
  let pushesPerSecond: Int?
  /// The messages a minute that each network allows it, of those that say so.
  let quotas: [(network: Network, perMinute: Int)]
  /// 0 for any number.
  let eventsPerMinute: Int

  init(_ app: AppConfiguration) {
    self.app = app.id
    pushesPerSecond = app.pushesPerSecond
    quotas = app.networks.accounts.compactMap { account in
      account.quotaPerMinute.map { (account.network, $0) }
    }
    eventsPerMinute = app.eventsPerMinute
  }

  init(_ record: AppRecord) {
    app = record.id
    let rules = record.form.rules
    pushesPerSecond = rules.pushesPerSecond
    quotas = record.form.accounts.compactMap { account in
      account.quotaPerMinute.map { (account.network, $0) }
    }
    eventsPerMinute = rules.eventsPerMinute
  }
}

import Glibc
import LocalServices
import Redis

/// An operator who rewrites the configuration that all workers share, and looks whether they tell what they have to.
struct ConfigurationRewriter: Sendable {
  private static let pauseMs: ClosedRange<UInt64> = 0...500
  private static let hurriedPercent = 30
  private static let signalledPercent = 25

  private let stage: ChaosStage
  private let limitSeconds: Double
  private let signingKeys: [String]
  private let accounts: [String]
  private let tenants: TenantCommands
  private var dice: SeededDice
  /// The good content that is there, or was before a broken file.
  private var content = ConfigurationContent()
  /// The text of the file.
  private var written = ""
  private var isBroken = false
  /// Whether the app stands in Redis that comes and goes there.
  private var hasTenant = false
  /// The digests that were told of contents.
  private var digests: [ConfigurationContent: String] = [:]
  /// The next rewrites, the last one first. An app that no worker has ever had comes first.
  private var next: [Rewriting] = [.app]
  /// The workers that were there at first.
  private(set) var workers: Set<String> = []
  private(set) var tally = ReloadTally()

  /// Starts so many workers that lack the coming app, and returns when all tell their configuration.
  static func start(
    _ stage: ChaosStage, workers count: Int, limitSeconds: Double
  ) async throws -> ConfigurationRewriter {
    var rewriter = try ConfigurationRewriter(stage, limitSeconds: limitSeconds)
    try rewriter.replaceKey()
    try rewriter.replaceAccount()
    try rewriter.replaceFile(rewriter.content.text(stage.configuration))
    for _ in 0..<count { try await stage.fleet.start() }
    let report = try await stage.eventually(ChaosLimits.startMsMax * UInt64(count)) {
      let report = try await ConfigurationReport(stage.session)
      return report.workers.count == count && report.taken != nil ? report : nil
    }
    guard let report, let digest = report.taken else {
      throw ChaosError("the workers do not tell their configuration")
    }
    rewriter.workers = report.workers
    rewriter.digests[rewriter.content] = digest
    return rewriter
  }

  private init(_ stage: ChaosStage, limitSeconds: Double) throws {
    self.stage = stage
    self.limitSeconds = limitSeconds
    dice = stage.trial.dice(.faults)
    let shared = stage.configuration
    signingKeys = try [shared.keys.apnsKey.file, shared.secondKeyFile].map(Self.text)
    accounts = try [shared.keys.serviceAccount.file, shared.secondAccountFile].map(Self.text)
    tenants = try TenantCommands(stage)
  }

  private static func text(of file: String) throws -> String {
    guard let text = TextFile.read(file, bytesMax: ChaosLimits.textBytesMax) else {
      throw ChaosError("\(file) cannot be read")
    }
    return text
  }

  // MARK: Rewriting

  /// Rewrites the configuration so many times; fewer when a rewrite is not told in time.
  mutating func rewrite(times count: Int) async throws {
    while tally.rewrites < count, tally.failure == nil {
      let kind = isBroken ? .mending : drawn()
      stage.trial.say("rewrite \(tally.rewrites + 1) of \(count), \(kind.rawValue)")
      try await rewrite(kind)
      try await ChaosStage.pause(ms: dice.pick(Self.pauseMs))
    }
  }

  /// Leaves a good configuration and all apps, and waits until all workers tell that they have them.
  mutating func finish() async throws {
    let since = ContinuousClock.now
    try put(ConfigurationContent(hasComingApp: true))
    try await waitUntilTaken("the last one", since)
    if !hasTenant { try await turnTenant() }
  }

  /// Each kind comes once before any comes again.
  private mutating func drawn() -> Rewriting {
    if next.isEmpty {
      next = Rewriting.allCases.filter { $0 != .mending }.shuffled(using: &dice)
    }
    return next.removeLast()
  }

  private mutating func rewrite(_ kind: Rewriting) async throws {
    if kind == .tenant { return try await turnTenant() }
    let since = ContinuousClock.now
    if kind.isBroken {
      try replaceFile(kind.text(content, stage.configuration))
      isBroken = true
      tally.rewrites += 1
    } else {
      try put(kind.content(after: content, &dice))
    }
    if dice.chance(percent: Self.signalledPercent) {
      for member in await stage.fleet.members { member.child.signal(SIGHUP) }
      tally.signalled += 1
    }
    if isBroken { return try await waitUntilRefused(kind.rawValue, since) }
    // Only what can be told apart afterwards: the next one waits for a digest of its own.
    if kind != .mending, digests[content] != nil, dice.chance(percent: Self.hurriedPercent) {
      tally.hurried += 1
    } else {
      try await waitUntilTaken(kind.rawValue, since)
    }
  }

  /// Adds the app to Redis, or removes it, and waits until all workers tell that they go by that.
  private mutating func turnTenant() async throws {
    let since = ContinuousClock.now
    hasTenant.toggle()
    if hasTenant { try await tenants.add() } else { try await tenants.remove() }
    tally.rewrites += 1
    if hasTenant { tally.renewals += 1 }
    let changes = try await stage.session.command(
      "XREVRANGE", "pushpool:app_changes", "+", "-", "COUNT", "1")
    guard let change = changes.array?.first?.array?.first?.string else {
      throw ChaosError("Redis does not say which change of its apps was the last")
    }
    let wanted = "\(hasTenant ? 1 : 0) up to \(change)"
    let isTold = try await told { $0.tenants == [wanted] ? wanted : nil } != nil
    guard isTold else { return try await fail(Rewriting.tenant.rawValue) }
    tally.taken += 1
    tally.tenantSeconds = max(tally.tenantSeconds, (ContinuousClock.now - since) / .seconds(1))
  }

  /// Puts a good content in place: the key, the account, the file, or several.
  private mutating func put(_ wanted: ConfigurationContent) throws {
    let hasOtherKey = wanted.hasSecondKey != content.hasSecondKey
    let hasOtherAccount = wanted.hasSecondAccount != content.hasSecondAccount
    tally.renewals += wanted.renewals(after: content)
    content = wanted
    isBroken = false
    if hasOtherKey { try replaceKey() }
    if hasOtherAccount { try replaceAccount() }
    let text = wanted.text(stage.configuration)
    if text != written || !(hasOtherKey || hasOtherAccount) { try replaceFile(text) }
    tally.rewrites += 1
  }

  private func replaceKey() throws {
    try SharedConfiguration.replace(
      ConfigurationContent.keyFile(stage.configuration),
      by: signingKeys[content.hasSecondKey ? 1 : 0])
  }

  private func replaceAccount() throws {
    try SharedConfiguration.replace(
      ConfigurationContent.accountFile(stage.configuration),
      by: accounts[content.hasSecondAccount ? 1 : 0])
  }

  private mutating func replaceFile(_ text: String) throws {
    try SharedConfiguration.replace(stage.configuration.file, by: text)
    written = text
  }

  // MARK: What workers tell

  private mutating func waitUntilTaken(
    _ name: String, _ since: ContinuousClock.Instant
  ) async throws {
    let (known, others) = (digests[content], Set(digests.values))
    let digest = try await told { report in
      guard let digest = report.taken else { return nil }
      return known.map { $0 == digest } ?? !others.contains(digest) ? digest : nil
    }
    guard let digest else { return try await fail(name) }
    digests[content] = digest
    tally.taken += 1
    tally.takenSeconds = max(tally.takenSeconds, (ContinuousClock.now - since) / .seconds(1))
  }

  private mutating func waitUntilRefused(
    _ name: String, _ since: ContinuousClock.Instant
  ) async throws {
    let (known, session) = (Set(digests.values), stage.session)
    let alarm = try await told { report in
      // Nothing of it may be in force.
      guard let alarm = report.refused, report.digests.isSubset(of: known) else { return nil }
      return try await session.configurationAlarms().contains(alarm) ? alarm : nil
    }
    guard alarm != nil else { return try await fail(name) }
    tally.refused += 1
    tally.refusedSeconds = max(tally.refusedSeconds, (ContinuousClock.now - since) / .seconds(1))
  }

  /// Looks until all workers tell what is wanted; nil when they did not in time.
  private func told(
    _ look: (ConfigurationReport) async throws -> String?
  ) async throws -> String? {
    try await stage.eventually(UInt64(limitSeconds * 1_000)) {
      let report = try await ConfigurationReport(stage.session)
      return report.workers.count == workers.count ? try await look(report) : nil
    }
  }

  private mutating func fail(_ name: String) async throws {
    guard tally.failure == nil else { return }
    let report = try await ConfigurationReport(stage.session)
    tally.failure =
      "rewrite \(tally.rewrites), \(name): \(tenths(limitSeconds)) s later \(report.sentence)"
  }
}

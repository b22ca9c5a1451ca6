internal import HTTPClient
internal import Model
internal import Providers
internal import PushpoolConfiguration
package import Reactor
internal import Redis
internal import Store

/// Looks at everything that a worker stands on: the configuration and its files, Redis, and the push networks. It changes
/// nothing and delivers nothing.
package struct Doctor: Sendable {
  private let check: ConfigurationCheck
  private let isOffline: Bool
  private let client: StoreSession.Client
  private let loop: EventLoop

  /// - Parameters:
  ///   - isOffline: whether the networks are left out.
  ///   - client: as whom Redis is asked.
  ///   - loop: one that runs, and outlives the examination.
  package init(
    _ check: ConfigurationCheck, isOffline: Bool, for client: StoreSession.Client,
    on loop: EventLoop
  ) {
    self.check = check
    self.isOffline = isOffline
    self.client = client
    self.loop = loop
  }

  /// Looks at all, each for a bounded time.
  /// - Parameter progress: hears how many steps are done, and how many there are as far as that is known.
  package func examine(progress: (_ done: Int, _ total: Int) -> Void) async -> Diagnosis {
    var diagnosis = Diagnosis()
    diagnosis.add(check.findings)
    guard let configuration = check.configuration else { return diagnosis }
    progress(1, 2)
    let session = await open(configuration, &diagnosis)
    var aheadMs: Int64 = 0
    if let session { aheadMs = await ask(session, configuration, &diagnosis) }
    progress(2, 2)
    let exchanges = HTTPClient()
    let now = WallClock.system
    // Tokens are dated as workers date them, by the clock of Redis.
    let ahead = aheadMs
    let clock = WallClock(nowMs: { now.nowMs() - ahead }, aheadMs: { ahead })
    await look(
      at: configuration, with: exchanges, clock,
      share: BorrowedTokens(session: diagnosis.lacksRedis ? nil : session, clock: clock),
      &diagnosis, progress)
    await session?.close()
    exchanges.shutdown()
    return diagnosis
  }

  // MARK: Redis

  private func open(
    _ configuration: Configuration, _ diagnosis: inout Diagnosis
  ) async -> StoreSession? {
    guard !check.errors.contains(where: { $0.field.hasPrefix("redis") }), check.omitted == 0 else {
      diagnosis.add([
        DoctorFinding(.note, "redis", "was not asked, because of errors in the configuration")
      ])
      return nil
    }
    do throws(StoreFailure) {
      // It reads, and asks for no functions.
      return try await StoreSession.open(
        configuration.redis, as: .dashboard, for: client, on: loop)
    } catch {
      let finding = DoctorFinding(.error, "redis", error.description, partedBy: "; ")
      if error.kind == .misconfigured {
        diagnosis.add([finding])
      } else {
        diagnosis.addLack(ofRedis: finding)
      }
      return nil
    }
  }

  /// - Returns: how far this machine's clock is ahead of Redis's.
  private func ask(
    _ session: StoreSession, _ configuration: Configuration, _ diagnosis: inout Diagnosis
  ) async -> Int64 {
    do throws(StoreFailure) {
      let examination = try await session.run { store throws(RedisError) in
        try await RedisExamination.of(store, for: configuration)
      }
      diagnosis.add(examination.findings)
      return examination.aheadMs
    } catch {
      diagnosis.addLack(
        ofRedis: DoctorFinding(.error, "redis", error.description, partedBy: "; "))
      return 0
    }
  }

  // MARK: Networks

  private func look(
    at configuration: Configuration, with exchanges: HTTPClient, _ clock: WallClock,
    share: BorrowedTokens, _ diagnosis: inout Diagnosis, _ progress: (Int, Int) -> Void
  ) async {
    guard check.omitted == 0 else { return }
    // What is made up in place of what is wrong is sent to nobody.
    let wrong = Set(
      check.errors.compactMap { $0.app }.filter { configuration.apps.indices.contains($0) }
        .map { configuration.apps[$0].id })
    let directory: ProviderDirectory
    do throws(ConfigurationError) {
      directory = try ConfiguredApps(configuration, client: exchanges, clock: clock).directory
    } catch {
      return diagnosis.add([DoctorFinding(.error, "configuration", error.description)])
    }
    let fit = directory.entries.filter { !wrong.contains($0.app) }
    diagnosis.add(ends(of: fit, nowMs: clock.nowMs()))
    guard !isOffline else {
      if !fit.isEmpty {
        diagnosis.add([DoctorFinding(.note, "networks", "were left out (--offline)")])
      }
      return
    }
    directory.share(through: share)
    // An account that is for both environments, and has an entry for each, is asked about once.
    var seen: Set<String> = []
    let asked = fit.filter { seen.insert(NetworkExamination.subject($0)).inserted }
    await ask(asked, of: configuration, with: exchanges, clock, &diagnosis, progress)
  }

  /// Until when the credentials hold.
  private func ends(of entries: [ProviderDirectory.Entry], nowMs: Int64) -> [DoctorFinding] {
    var findings = entries.compactMap { entry in
      entry.provider.credentials.certificate?.finding(
        NetworkExamination.subject(entry), nowMs: nowMs)
    }
    if entries.contains(where: {
      $0.provider.network == .apns && $0.provider.credentials.certificate == nil
    }) {
      findings.append(DoctorFinding(.note, Network.apns.rawValue, "signing keys do not expire"))
    }
    return findings
  }

  /// Asks the networks, several at a time.
  private func ask(
    _ entries: [ProviderDirectory.Entry], of configuration: Configuration,
    with exchanges: HTTPClient, _ clock: WallClock, _ diagnosis: inout Diagnosis,
    _ progress: (Int, Int) -> Void
  ) async {
    let all = entries.prefix(OperationsLimits.examinedNetworksMax)
    let loop = loop
    var found: [Int: [DoctorFinding]] = [:]
    await withTaskGroup(of: (Int, [DoctorFinding]).self) { group in
      func add(_ number: Int) {
        let examination = NetworkExamination(
          all[number], configuration.app(all[number].app), client: exchanges, clock: clock,
          loop: loop)
        group.addTask { (number, await examination.findings()) }
      }
      for number in all.indices.prefix(OperationsLimits.networksAskedAtOnce) { add(number) }
      var next = min(all.count, OperationsLimits.networksAskedAtOnce)
      while let (number, findings) = await group.next() {
        found[number] = findings
        progress(2 + found.count, 2 + all.count)
        if next < all.count {
          add(next)
          next += 1
        }
      }
    }
    for number in all.indices { diagnosis.add(found[number] ?? []) }
    let rest = entries.count - all.count
    guard rest > 0 else { return }
    diagnosis.add([
      DoctorFinding(
        .note, "networks",
        "\(rest) more were not asked: the doctor asks \(OperationsLimits.examinedNetworksMax)")
    ])
  }
}

extension ConfigurationCheck {
  /// The check as findings; one that all is well when it is.
  var findings: [DoctorFinding] {
    var findings = errors.map { DoctorFinding(.error, "configuration", $0.description) }
    if omitted > 0 {
      findings.append(
        DoctorFinding(
          .error, "configuration", "\(file) has \(omitted) more errors",
          remedy: "see them with pushpool check, after those above are corrected"))
    }
    findings += openSecrets.map { DoctorFinding(.warning, "files", $0, partedBy: "; ") }
    findings += remarks.map { DoctorFinding(.note, "configuration", $0) }
    if isRight {
      findings.append(
        DoctorFinding(
          .good, "configuration",
          "\(file) has no error, and \(filesCount) files were looked into"))
    }
    return findings
  }
}

extension CertificateExpiry {
  fileprivate func finding(_ subject: String, nowMs: Int64) -> DoctorFinding {
    guard let sentence = sentence(nowMs: nowMs) else {
      return DoctorFinding(.good, subject, term)
    }
    return DoctorFinding(
      isPast(nowMs: nowMs) ? .error : .warning, subject, sentence, partedBy: ": ")
  }
}

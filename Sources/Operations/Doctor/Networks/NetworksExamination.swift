internal import HTTPClient
internal import Model
internal import Providers
internal import PushpoolConfiguration
internal import Reactor

/// The accounts of apps at the push networks: until when their credentials hold, and whether the networks take them.
struct NetworksExamination: Sendable {
  let entries: [ProviderDirectory.Entry]
  let configuration: Configuration
  /// The forms of apps that stand in Redis, by app.
  let forms: [String: AppForm]
  let client: HTTPClient
  let clock: WallClock
  let loop: EventLoop
  /// How long a network has for its answer, and to be reached.
  let answerMs: UInt64

  /// Until when the credentials hold, the soonest to expire first.
  func ends() -> [DoctorFinding] {
    let nowMs = clock.nowMs()
    let certificates = entries.compactMap { entry in
      entry.provider.credentials.certificate.map { (entry, $0) }
    }.sorted { $0.1.expiresAtMs < $1.1.expiresAtMs }
    let told = certificates.prefix(OperationsLimits.certificatesToldMax)
    var findings = told.map { entry, expiry in
      expiry.finding(NetworkExamination.subject(entry), nowMs: nowMs)
    }
    let rest = certificates.count - told.count
    if rest > 0 {
      findings.append(
        DoctorFinding(
          .note, Network.apns.rawValue, "\(rest) more certificates hold for no less than these"))
    }
    if entries.contains(where: {
      $0.provider.network == .apns && $0.provider.credentials.certificate == nil
    }) {
      findings.append(DoctorFinding(.note, Network.apns.rawValue, "signing keys do not expire"))
    }
    return findings
  }

  /// Asks the networks, several at a time.
  /// - Parameter progress: hears how many were asked, and how many are to be.
  func findings(progress: (_ done: Int, _ total: Int) -> Void) async -> [DoctorFinding] {
    // An account that is for both environments, and has an entry for each, is asked about once.
    var seen: Set<String> = []
    let accounts = entries.filter { seen.insert(NetworkExamination.subject($0)).inserted }
    let asked = Array(accounts.prefix(OperationsLimits.examinedNetworksMax))
    var found: [Int: [DoctorFinding]] = [:]
    await withTaskGroup(of: (Int, [DoctorFinding]).self) { group in
      func add(_ number: Int) {
        let examination = examination(of: asked[number])
        group.addTask { (number, await examination.findings()) }
      }
      for number in asked.indices.prefix(OperationsLimits.networksAskedAtOnce) { add(number) }
      var next = min(asked.count, OperationsLimits.networksAskedAtOnce)
      while let (number, findings) = await group.next() {
        found[number] = findings
        progress(found.count, asked.count)
        if next < asked.count {
          add(next)
          next += 1
        }
      }
    }
    var findings = asked.indices.flatMap { found[$0] ?? [] }
    let rest = accounts.count - asked.count
    if rest > 0 {
      findings.append(
        DoctorFinding(
          .note, "networks",
          "\(rest) more were not asked: the doctor asks \(OperationsLimits.examinedNetworksMax), and those of any app with --app"
        ))
    }
    return findings
  }

  private func examination(of entry: ProviderDirectory.Entry) -> NetworkExamination {
    NetworkExamination(
      entry, authorities: authorities(of: entry), client: client, clock: clock, loop: loop,
      answerMs: answerMs)
  }

  /// The authorities as the configuration has them, or the app in Redis.
  private func authorities(of entry: ProviderDirectory.Entry) -> AccountAuthorities {
    func isOf(_ network: Network, _ environment: PushEnvironment?) -> Bool {
      network == entry.provider.network && environment.map(entry.environments.contains) ?? true
    }
    if let app = configuration.app(entry.app) {
      let account = app.networks.accounts.first { isOf($0.network, $0.environment) }
      return account?.access.caFile.map { .file($0) } ?? .none
    }
    let account = forms[entry.app]?.accounts.first { isOf($0.network, $0.environment) }
    return account?.access.authorities.map { .text($0) } ?? .none
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

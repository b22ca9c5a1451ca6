import LocalServices
import Model

@testable import Store

extension Interleaving {
  private func anyOutcome() -> WritableKeyPath<OutcomeCounts, Int> {
    random.pick([\.accepted, \.accepted, \.rejected, \.expired, \.skipped, \.failed])!
  }

  func settle() async throws {
    guard let (consumer, index) = anyRun() else { return }
    let run = consumers[consumer].runs[index]
    try await settle(consumer, index, report(of: run, isFinal: random.chance(percent: 40)))
  }

  /// The reply was lost, and the same is said again.
  func repeatSettlement() async throws {
    guard let (consumer, index) = anyRun(), let last = consumers[consumer].runs[index].last
    else { return }
    let wasStale = consumers[consumer].runs[index].isLastStale
    let count = consumers[consumer].runs.count
    try await settle(consumer, index, last)
    // Whoever heard that it lost the chunk goes by no other answer.
    if wasStale, consumers[consumer].runs.count == count {
      consumers[consumer].runs.remove(at: index)
    }
  }

  func settle(_ consumer: Int, _ index: Int, _ report: ModelReport) async throws {
    let name = consumers[consumer].name
    let run = consumers[consumer].runs[index]
    note(
      """
      settle \(name) \(run.claim.entry) \(run.claim.job) \(run.claim.segment) \
      \(report.isFinal ? "final" : "") told \(report.told.bytes) done \(report.done.bytes) \
      \(report.effects.count) effects \(report.residuals.count) residuals
      """)
    let expected = model.settle(run, report, name)
    let found = try await store.chunks.settle(run.claim, report.settlement, consumer: name)
    try expectSame(found, expected, "settle")
    consumers[consumer].runs[index].last = report
    consumers[consumer].runs[index].isLastStale = found.standing == .stale
    guard found.standing != .stale else {
      if random.chance(percent: 60) { consumers[consumer].runs.remove(at: index) }
      return
    }
    consumers[consumer].runs[index].told = report.done
    consumers[consumer].runs[index].recipients = report.recipients
    // A finished one may still be repeated.
    if report.isFinal && random.chance(percent: 70) { consumers[consumer].runs.remove(at: index) }
  }

  /// What became of some recipients, or of all that are left, as far as this consumer knows.
  func report(of run: ModelRun, isFinal: Bool) -> ModelReport {
    var report = ModelReport(isFinal: isFinal, told: run.told, done: run.told)
    var residuals: [Bool: [String]] = [:]
    for (line, name) in run.recipients.enumerated() where !run.told.contains(line) {
      guard isFinal || random.chance(percent: 40) else { continue }
      report.done.insert(line)
      var installations = [name]
      // What is left of a user that is done has a name like this.
      let isUser = run.claim.lines == .users && !name.contains("#")
      if isUser {
        installations = (0..<random.below(4)).map { "\(name)#\($0)" }
        report.effects.append(.resolved(user: name, installations: installations))
      }
      for installation in installations {
        if isUser && !isFinal && random.chance(percent: 20) {
          report.stillOpen.append(installation)
        } else if random.chance(percent: 15) {
          residuals[random.chance(percent: 50), default: []].append(installation)
          report.effects.append(.retried)
        } else if random.chance(percent: 15), let verdict = anyVerdict() {
          report.effects.append(.invalid(installation, verdict))
        } else {
          let network: Network = random.chance(percent: 50) ? .apns : .fcm
          report.effects.append(.ended(installation, network, anyOutcome()))
        }
      }
    }
    report.residuals = [false, true].compactMap { isLater in
      residuals[isLater].map { (isLater, $0) }
    }
    report.recipients = run.recipients + report.stillOpen
    return report
  }
}

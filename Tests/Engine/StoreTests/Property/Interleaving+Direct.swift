import LocalServices
import Model

@testable import Store

// Jobs that are sent from their entries.
extension Interleaving {
  /// The next step of one whose entry somebody has.
  func sendDirectly() async throws {
    let places = consumers.indices.flatMap { consumer in
      consumers[consumer].entries.indices.filter {
        recipients(consumers[consumer].entries[$0].spec).count == 1
      }.map { (consumer, $0) }
    }
    guard let (consumer, index) = random.pick(places) else { return }
    guard consumers[consumer].entries[index].isBegun else {
      return try await begin(consumer, index)
    }
    if random.chance(percent: 60) {
      try await end(consumer, index)
    } else {
      try await admitBegun(consumer, index)
    }
  }

  private func direct(_ taken: TakenEntry) -> DirectJob {
    let users = recipients(taken.spec)[0]
    var admission = Admission(
      app: Self.app, id: taken.spec.id, digest: taken.spec.digest, content: [0x7b, 0x7d],
      audience: Admission.Audience(
        lines: .users, recipients: users.count, segments: 1,
        texts: [Array(users.map { $0 + "\n" }.joined().utf8)]))
    admission.retention.seconds = 3_600
    return DirectJob(entry: taken.entry, admission: admission)
  }

  private func begin(_ consumer: Int, _ index: Int) async throws {
    let name = consumers[consumer].name
    let taken = consumers[consumer].entries[index]
    note("begin_direct \(name) \(taken.spec.text) \(taken.entry.entry)")
    let expected = model.beginDirect(taken.entry, taken.spec.id, taken.spec.digest, name)
    let found = try await store.jobs.direct.begin([direct(taken)], consumer: name)
    try expectSame(found, [.success(expected)], "begin_direct")
    switch expected {
    case .new: consumers[consumer].entries[index].isBegun = true
    case .cancelled: break
    case .conflict: try await refuse(consumer, index, "id_conflict")
    default: forget(consumer, index)
    }
  }

  private func end(_ consumer: Int, _ index: Int) async throws {
    let name = consumers[consumer].name
    let taken = consumers[consumer].entries[index]
    let job = direct(taken)
    let report = plainReport(of: ModelRun(job.claim))
    note("end_direct \(name) \(taken.spec.text) \(taken.entry.entry)")
    // Now and then the reply is lost, and the same is said again.
    for _ in 0..<(random.chance(percent: 20) ? 2 : 1) {
      let expected = model.endDirect(
        taken.entry, taken.spec.id, recipients(taken.spec)[0], report)
      let ending = DirectEnding(job: job, startedAtMs: 1, settlement: report.settlement)
      let found = try await store.jobs.direct.end([ending])
      try expectSame(found, [expected], "end_direct")
    }
    forget(consumer, index)
  }

  private func admitBegun(_ consumer: Int, _ index: Int) async throws {
    let name = consumers[consumer].name
    let taken = consumers[consumer].entries[index]
    let job = direct(taken)
    note("admit_begun \(name) \(taken.spec.text) \(taken.entry.entry)")
    // Now and then the reply is lost, and the same is said again.
    for _ in 0..<(random.chance(percent: 20) ? 2 : 1) {
      let claim = try await store.jobs.direct.admit(
        begun: job, content: [0x7b, 0x7d], startedAtMs: 1, consumer: name)
      let isOurs = model.admitBegun(
        taken.entry, job.admission, recipients(taken.spec)[0], name, chunk: claim?.entry ?? "")
      try expectSame(claim != nil, isOurs, "admit_begun")
      if let claim, !consumers[consumer].runs.contains(where: { $0.claim.entry == claim.entry }) {
        consumers[consumer].runs.append(ModelRun(claim))
      }
    }
    forget(consumer, index)
  }

  /// What became of all its users: nothing that is more than counts.
  private func plainReport(of run: ModelRun) -> ModelReport {
    var report = ModelReport(isFinal: true, told: run.told, done: run.told)
    let outcomes: [WritableKeyPath<OutcomeCounts, Int>] = [
      \.accepted, \.accepted, \.rejected, \.expired, \.skipped,
    ]
    for name in run.recipients {
      let installations = (0..<random.below(4)).map { "\(name)#\($0)" }
      report.effects.append(.resolved(user: name, installations: installations))
      for installation in installations {
        let network: Network = random.chance(percent: 50) ? .apns : .fcm
        report.effects.append(.ended(installation, network, random.pick(outcomes)!))
      }
    }
    return report
  }
}

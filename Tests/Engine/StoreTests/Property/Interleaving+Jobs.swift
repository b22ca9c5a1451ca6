import LocalServices
import Model
import Testing

@testable import Store

extension Interleaving {
  private static let priorities: [Priority] = [.high, .normal, .normal, .low]

  /// What a job id stands for, so that the same id with the same digest is the same job.
  func recipients(_ spec: ModelJobEntry) -> [[String]] {
    var own = SeededDice(seed: UInt64(spec.id.dropFirst()) ?? 0)
    let segments = 1 + own.below(4)
    return (0..<segments).map { segment in
      (0..<(1 + own.below(5))).map { "\(spec.id).\(segment).\($0)" }
    }
  }

  func enqueue() async throws {
    let open = model.jobs.values.count { !$0.isFinished }
    guard open + model.entries.values.reduce(0, { $0 + $1.count }) < Self.openJobsMax else {
      return
    }
    // Now and then an id that was used lately, of the same content or another.
    let isNew = jobNumber == 0 || random.chance(percent: 70)
    if isNew { jobNumber += 1 }
    let number = isNew ? jobNumber : max(1, jobNumber - random.below(6))
    let digest = random.chance(percent: 90) ? "d" : "e"
    try await enqueue(ModelJobEntry("j\(number) \(digest)"))
  }

  private func enqueue(_ spec: ModelJobEntry) async throws {
    let priority = random.pick(Self.priorities)!
    note("enqueue \(spec.text) \(priority)")
    let entry = try await store.jobs.enqueue(Array(spec.text.utf8), priority: priority)
    model.entries[priority]!.add(spec, entry: entry)
  }

  func take() async throws {
    let index = anyConsumer()
    let reclaims: Bool? = random.chance(percent: 50) ? random.chance(percent: 20) : nil
    try await take(index, max: 1 + random.below(3), reclaims: reclaims)
  }

  func take(_ index: Int, max: Int, reclaims: Bool?) async throws {
    let name = consumers[index].name
    note("take \(name) \(max) \(reclaims.map { $0 ? "any" : "abandoned" } ?? "new")")
    if reclaims == false { try await endLeases() }
    let expected = model.take(name, max: max, reclaims: reclaims)
    let found = try await store.jobs.take(
      consumer: name, max: max, abandonedForMs: reclaims.map { $0 ? 0 : Self.leaseMs })
    try await learnLetters()
    try expectSame(
      found.map { "\($0.priority) \(String(decoding: $0.text, as: UTF8.self)) \($0.deliveries)" },
      expected.map { "\($0.priority) \($0.lease.item.text) \($0.lease.deliveries)" }, "take_jobs")
    for (entry, taken) in zip(found, expected) {
      if !taken.lease.entry.isEmpty {
        try expectSame(entry.entry, taken.lease.entry, "the entry of a taken job")
      }
      model.entries[entry.priority]!.learn(entry.entry, taken.lease.number)
      consumers[index].entries.append(TakenEntry(entry: entry, spec: taken.lease.item))
    }
  }

  func admit() async throws {
    let places = consumers.indices.flatMap { consumer in
      consumers[consumer].entries.indices.map { (consumer, $0) }
    }
    guard let (consumer, index) = random.pick(places) else { return }
    try await admit(consumer, index)
  }

  /// The next step of an admission.
  func admit(_ consumer: Int, _ index: Int) async throws {
    let name = consumers[consumer].name
    let taken = consumers[consumer].entries[index]
    let recipients = recipients(taken.spec)
    if random.chance(percent: 8) {
      return try await refuse(consumer, index, "invalid_job")
    }
    let answer: AdmissionAnswer
    // Now and then one that was reserved by somebody who is gone, or not at all, is uploaded.
    if recipients.count > 1 && !taken.isReserved && !random.chance(percent: 5) {
      note("reserve \(name) \(taken.spec.text) \(taken.entry.entry)")
      let expected = model.reserve(taken.entry, taken.spec.id, taken.spec.digest, name)
      answer = try await store.jobs.reserve(
        taken.entry, app: Self.app, id: taken.spec.id, digest: taken.spec.digest, consumer: name)
      try expectSame(answer, expected, "reserve")
      let isReserved = answer == .new || answer == .cancelled
      consumers[consumer].entries[index].isReserved = isReserved
      if isReserved { return }
    } else {
      answer = try await start(taken, recipients, name)
    }
    switch answer {
    case .conflict: try await refuse(consumer, index, "id_conflict")
    case .new, .cancelled, .admitted, .duplicate, .stale:
      forget(consumer, index)
    case .keyMissing, .keyType, .keyUnreadable, .keyEncoding, .notIndexed, .looping,
      .variablesMissing,
      .variablesType, .variablesUnreadable, .taken:
      Issue.record(
        "no job of this test reads a key, tells of an event or comes by an id that came before")
    }
  }

  private func start(
    _ taken: TakenEntry, _ recipients: [[String]], _ name: String
  ) async throws -> AdmissionAnswer {
    let segments = recipients.map { Array($0.map { $0 + "\n" }.joined().utf8) }
    var admission = Admission(
      app: Self.app, id: taken.spec.id, digest: taken.spec.digest, content: [0x7b, 0x7d],
      audience: Admission.Audience(
        lines: .users, recipients: recipients.joined().count, segments: segments.count,
        window: 1 + random.below(3)),
      timing: Admission.Timing(startAtMs: random.chance(percent: 10) ? ModelBinding.now : nil))
    admission.retention.seconds = 3_600
    admission.retention.keepsContent = random.chance(percent: 50)
    note(
      "admit \(name) \(taken.spec.text) \(taken.entry.entry) later \(admission.timing.startAtMs ?? 0)"
    )
    if segments.count == 1 || random.chance(percent: 50) {
      admission.audience.texts = segments
    } else {
      let isOurs = model.entries[taken.entry.priority]!.lease(taken.entry.entry, of: name) != nil
      let isTaken = try await store.jobs.upload(
        segments, first: 1, of: taken.entry, consumer: name)
      if !segments.isEmpty { try expectSame(isTaken, isOurs, "upload") }
    }
    let expected = model.admit(taken.entry, admission, recipients, name)
    let answer = try await store.jobs.admit(taken.entry, admission, consumer: name)
    try expectSame(answer, expected, "admit")
    return answer
  }

  func refuse(_ consumer: Int, _ index: Int, _ reason: String) async throws {
    let name = consumers[consumer].name
    let taken = forget(consumer, index)
    note("refuse \(name) \(taken.spec.text) \(reason)")
    let expected = model.refuse(taken.entry, id: taken.spec.id, reason: reason, name)
    let found = try await store.jobs.refuse(
      taken.entry, Refusal(reason: reason, message: "No", app: Self.app, id: taken.spec.id),
      consumer: name)
    try expectSame(found, expected, "refuse")
    try await learnLetters()
    // A producer that hears of it sends the job anew, under the name that it had.
    if taken.isReserved && random.chance(percent: 50) { try await enqueue(taken.spec) }
  }

  /// A worker believes that it is done with an entry. An operator may have read of it before.
  @discardableResult func forget(_ consumer: Int, _ index: Int) -> TakenEntry {
    let taken = consumers[consumer].entries.remove(at: index)
    if doneWith.count == Self.doneWithMax { doneWith.removeFirst() }
    doneWith.append(taken)
    return taken
  }

  private func anyJob() -> String? {
    random.pick(
      model.jobs.filter { !$0.value.isFinished || random.chance(percent: 5) }.map(\.key).sorted())
  }

  /// An operator names a job that waits, or that one believes to wait.
  func name() async throws {
    var places = Priority.allCases.flatMap { priority in
      model.entries[priority]!.waiting.map { (priority, $0.entry, $0.item) }
        + model.entries[priority]!.leases.map { (priority, $0.entry, $0.item) }
    }.filter { !$0.1.isEmpty }
    if random.chance(percent: 20) {
      places = (doneWith + consumers.flatMap(\.entries)).map {
        ($0.entry.priority, $0.entry.entry, $0.spec)
      }
    }
    guard let (priority, entry, spec) = random.pick(places) else { return }
    note("name \(spec.text) \(priority) \(entry)")
    let expected = model.name(spec, entry, priority)
    let found = try await store.jobs.waiting.takeName(
      Self.app, spec.id, digest: spec.digest, priority: priority, entry: entry)
    try expectSame(found, expected, "name_waiting")
    if random.chance(percent: 50) { try await change(spec.id) }
  }

  func change() async throws {
    guard let id = anyJob() else { return }
    try await change(id)
  }

  /// An operator has a job start at another time, mostly one that waits for its start.
  private func reschedule() async throws {
    let waiting = model.jobs.filter {
      $0.value.isAdmitted && !$0.value.hasStarted && !$0.value.state.isFinal
    }
    let isAny = waiting.isEmpty || random.chance(percent: 20)
    guard let id = isAny ? anyJob() : random.pick(waiting.map(\.key).sorted()) else { return }
    let isLater = random.chance(percent: 50)
    note("reschedule \(id) \(isLater ? "later" : "now")")
    let expected = model.reschedule(id, isLater: isLater)
    let found = try await store.jobs.reschedule(
      app: Self.app, id: id, atMs: isLater ? ModelBinding.now : nil, aheadMsMax: ModelBinding.now)
    try expectSame(found, expected, "reschedule")
  }

  private func change(_ id: String) async throws {
    if random.chance(percent: 20) { return try await reschedule() }
    let choice = random.below(8)
    note("\(["pause", "resume", "resume", "cancel"][choice / 2]) \(id)")
    let expected: JobState?
    let found: JobState?
    switch choice / 2 {
    case 0:
      expected = model.pause(id)
      found = try await store.jobs.pause(app: Self.app, id: id)
    case 1, 2:
      expected = model.resume(id)
      found = try await store.jobs.resume(app: Self.app, id: id)
    default:
      expected = model.cancel(id)
      found = try await store.jobs.cancel(app: Self.app, id: id)
    }
    try expectSame(found, expected, "the state after a change")
  }

  func reconcile() async throws {
    guard let id = anyJob() else { return }
    note("reconcile \(id)")
    try expectSame(
      try await store.jobs.reconcile(app: Self.app, id: id), model.reconcile(id), "reconcile")
  }

  /// The records of jobs that ended are looked at a last time, and gone, as after seven days.
  func forgetFinished() async throws {
    let ended = model.jobs.filter { $0.value.isFinished }.map(\.key).sorted()
    note("forget \(ended)")
    for id in ended {
      try await compareJob(id)
      _ = try await store.redis("DEL", store.keys.job(app: Self.app, id: id))
      _ = try await store.redis("DEL", store.keys.content(app: Self.app, id: id))
      model.jobs[id] = nil
    }
  }
}

internal import HTTP2
internal import Model
internal import Providers
internal import Store

/// The path of a push on one lane: from a destination's queue onto a connection, and from the answer to a decision.
/// No tasks, no awaiting, and nothing allocated per push; loop-bound.
final class Dispatcher: DestinationOwner {
  private let runs: RunTable
  private let destinations: DestinationTable
  private let room: SendingRoom
  private let rescheduling: Rescheduling
  private let isolation: Isolation
  private let submitter: Submitter
  private let judge: AnswerJudge
  private let decider: PushDecider

  init(
    runs: RunTable, destinations: DestinationTable, room: SendingRoom, rescheduling: Rescheduling,
    isolation: Isolation, submitter: Submitter, judge: AnswerJudge, decider: PushDecider
  ) {
    self.runs = runs
    self.destinations = destinations
    self.room = room
    self.rescheduling = rescheduling
    self.isolation = isolation
    self.submitter = submitter
    self.judge = judge
    self.decider = decider
  }

  /// Pushes that were submitted and not answered.
  var inFlight: Int {
    destinations.inFlight + submitter.batches.pushes - submitter.batches.count
  }

  // MARK: What destinations ask

  func submit(
    _ tag: UInt64, to destination: Destination, with credential: Credential,
    in taker: any RequestTaker
  ) -> Submission {
    submitter.submit(tag, to: destination, with: credential, in: taker)
  }

  func submit(
    batch tags: [UInt64], to destination: Destination, with credential: Credential,
    in taker: any RequestTaker
  ) -> BatchSubmission {
    submitter.submit(batch: tags, to: destination, with: credential, in: taker)
  }

  func isAwaited(_ material: JobMaterial) -> Bool {
    var isAwaited = false
    runs.forEach { if $0.material === material, $0.mayBringMore { isAwaited = true } }
    return isAwaited
  }

  func putAside(_ tags: [UInt64], of destination: Destination, forMs delayMs: UInt64) {
    rescheduling.putAside(tags, of: destination, forMs: delayMs)
  }

  func destinationHasWaiting(_ destination: Destination) { destinations.list(destination) }

  func destinationRanLow(_ destination: Destination) { room.fill() }

  func queuedSilent(upTo rank: Int) -> Int { destinations.queuedSilent(upTo: rank) }

  // MARK: Answers

  func receive(_ answer: RequestAnswer, to raw: UInt64, from destination: Destination) {
    if BatchTag.isOne(raw) { return receive(answer, to: BatchTag(raw), from: destination) }
    let tag = PushTag(raw)
    guard let run = runs[tag] else { return judge.noteUnawaited(answer, destination) }
    run.noteReturned()
    let quarantinedNs = run.quarantined.sinceNs(tag.push)
    if answer.failure.isAccused { isolation.noteAccused(run, tag.push, destination) }
    switch answer.disposition {
    case .notSent:
      judge.noteNotSent(answer, resends: Int(run.pushes[tag.push].resends), destination)
      decider.decideNotSent(run, tag, destination, answer)
    case .malformed:
      decider.decideMalformed(run, tag, destination, answer, quarantinedNs: quarantinedNs)
      judge.noteMalformed(answer, destination)
    case .unknown:
      judge.noteSilence(answer, destination)
      decider.decideUnanswered(run, tag, answer)
    case .answered:
      judge.noteTime(answer, destination)
      run.noteAnswer(tag.push)
      if !destination.quarantine.isEmpty { destination.noteAnswer(toJob: run.claim.job) }
      if answer.content.isAccepted {
        judge.noteAccept(answer, of: run, destination)
        return decider.accept(run, tag.push, answer)
      }
      let classification = destination.provider.classify(judge.reply(answer, to: run))
      if case .accepted = classification {
        judge.noteAccept(answer, of: run, destination)
        return decider.accept(run, tag.push, answer)
      }
      let judgement = judge.judge(
        classification, answer, of: run, attempt: Int(run.pushes[tag.push].attempt), destination)
      decider.decide(run, tag, destination, answer, judgement)
    }
  }

  // MARK: Answers to several pushes

  // Each push is held to the same rules as one that leaves alone; what an answer says of the network, the time that it took
  // included, counts once a request.

  private func receive(
    _ answer: RequestAnswer, to tag: BatchTag, from destination: Destination
  ) {
    guard let batch = submitter.take(tag) else { return judge.noteUnawaited(answer, destination) }
    let pushes = pushes(of: batch)
    for (run, _) in pushes { run.noteReturned() }
    let quarantinedNs = pushes.map { $0.run.quarantined.sinceNs($0.tag.push) }
    if answer.failure.isAccused {
      for (run, tag) in pushes { isolation.noteAccused(run, tag.push, destination) }
    }
    switch answer.disposition {
    case .notSent:
      let resends = pushes.reduce(0) { max($0, Int($1.run.pushes[$1.tag.push].resends)) }
      judge.noteNotSent(answer, resends: resends, destination)
      for (run, tag) in pushes { decider.decideNotSent(run, tag, destination, answer) }
    case .malformed:
      for (number, (run, tag)) in pushes.enumerated() {
        decider.decideMalformed(
          run, tag, destination, answer, quarantinedNs: quarantinedNs[number],
          isAlone: batch.tags.count == 1, isFirst: number == 0)
      }
      judge.noteMalformed(answer, destination)
    case .unknown:
      judge.noteSilence(answer, destination)
      for (run, tag) in pushes {
        decider.decideUnanswered(run, tag, answer, lead: pushes[0].run)
      }
    case .answered:
      judge.noteTime(answer, destination)
      if !destination.quarantine.isEmpty, let run = pushes.first?.run {
        destination.noteAnswer(toJob: run.claim.job)
      }
      decide(pushes, of: batch, answer, destination)
    }
  }

  /// Returns the pushes whose runs have not ended.
  private func pushes(of batch: Batch) -> [(run: PushRun, tag: PushTag)] {
    batch.tags.compactMap { raw in
      let tag = PushTag(raw)
      return runs[tag].map { ($0, tag) }
    }
  }

  private func decide(
    _ pushes: [(run: PushRun, tag: PushTag)], of batch: Batch, _ answer: RequestAnswer,
    _ destination: Destination
  ) {
    let reply = judge.reply(answer, to: pushes.first?.run)
    let classification: Classification
    if batch.tags.count == 1, let (run, tag) = pushes.first {
      classification = destination.provider.classify(reply, of: run.pushes[tag.push].token)
    } else if batch.tags.count == 1 {
      classification = destination.provider.classify(reply)
    } else {
      switch destination.provider.classify(reply, pushes: batch.tags.count) {
      case .all(let one): classification = one
      case .split(let reason, let token):
        judge.noteGood(answer, destination)
        return split(pushes, answer, reason, token, destination)
      }
    }
    for (run, tag) in pushes { run.noteAnswer(tag.push) }
    if case .accepted = classification {
      if let run = pushes.first?.run {
        judge.noteAccept(answer, of: run, destination)
      } else {
        judge.noteGood(answer, destination)
      }
      for (run, tag) in pushes { decider.accept(run, tag.push, answer) }
      return
    }
    let judgement = judge.judge(
      classification, answer, of: pushes.first?.run,
      attempt: pushes.reduce(0) { max($0, Int($1.run.pushes[$1.tag.push].attempt)) }, destination,
      lead: pushes.first?.run)
    for (run, tag) in pushes { decider.decide(run, tag, destination, answer, judgement) }
  }

  /// Sends parts of a refused request as requests of their own: the push that the network blames, and each half of the
  /// others. So one bad push among a thousand takes 3 requests more, and 20 where the network does not say which; one
  /// request a push would be a thousand, and networks of batches count requests. Where all are bad, it is twice as many.
  /// - Parameter token: of the push that is blamed. It is not believed: its push is tried alone.
  private func split(
    _ pushes: [(run: PushRun, tag: PushTag)], _ answer: RequestAnswer, _ reason: String,
    _ token: String?, _ destination: Destination
  ) {
    for (run, tag) in pushes {
      run.beginAnswer(TracedAnswer(answer, .rejected(reason: reason)))
      run.note(tag.push, .resend)
    }
    var others = pushes
    var blamed: [(run: PushRun, tag: PushTag)] = []
    if let token {
      let index = pushes.firstIndex { $0.run.pushes[$0.tag.push].token.elementsEqual(token.utf8) }
      if let index { blamed.append(others.remove(at: index)) }
    }
    let middle = (others.count + 1) / 2
    for part in [blamed[...], others[..<middle], others[middle...]] {
      guard let first = part.first else { continue }
      let run = first.run
      for (run, tag) in part { run.narrow(tag.push, to: part.count) }
      destination.batches?.append(
        BatchQueue.Draft(
          tags: part.map(\.tag.raw), rank: run.claim.priority.rank, material: run.material,
          wording: run.pushes[first.tag.push].wording, pushesMax: part.count))
    }
    destination.wake()
  }
}

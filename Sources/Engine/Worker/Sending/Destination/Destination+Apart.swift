internal import CurlTransport
internal import HTTP2
internal import Reactor

// Pushes that are tried apart.
extension Destination {
  /// Jobs whose pushes are tried apart.
  var quarantine: Quarantine { apart.quarantine }

  /// The network has complained of a request of a job. - Returns: whether the job is new in quarantine.
  func note(_ complaint: Quarantine.Complaint, ofJob job: String) -> Bool {
    apart.quarantine.note(job, complaint, nowNs: loop.nowNs)
  }

  /// A request of the job was answered: it leaves quarantine.
  func noteAnswer(toJob job: String) { apart.quarantine.clear(job) }

  /// - Returns: false when as many wait as may.
  func enqueueApart(_ tag: UInt64, rank: Int) -> Bool {
    guard apart.append(tag, rank: rank, nowNs: loop.nowNs) else { return false }
    owner.destinationHasWaiting(self)
    let transport = apart.transport ?? openApart()
    transport.wake()
    return true
  }

  /// The next push for the connection of those that are tried apart. Unless the last that was heard of it is good, one that nobody
  /// suspects goes first: when that is refused, too, it is the connection that is bad.
  func nextApart() -> UInt64? {
    guard apart.queue.count > 0 else { return nil }
    if !apart.isWell, let other = waiting.popFirst() { return other }
    return apart.queue.popFirst()
  }

  /// Notes the end of a request on the connection of those that are tried apart.
  /// - Returns: whether that connection is to be replaced: it may be what is bad.
  func noteEndApart(_ answer: RequestAnswer) -> Bool {
    apart.noteMoved(nowNs: loop.nowNs)
    if answer.disposition == .answered {
      if reports.sign == .good { apart.noteGood() }
      return false
    }
    // One that was closed is another from now on.
    guard answer.disposition == .malformed, !answer.failure.isAccused else { return false }
    let wasWell = apart.isWell
    // libcurl chooses and keeps connections by itself.
    apart.noteRefusal(isTrial: batches != nil)
    return waiting.single > 0 ? !wasWell : apart.isTrialOver
  }

  private func openApart() -> any Transport {
    var settings = settings
    settings.connectionsMax = 1
    settings.streamsMax = 1
    settings.reconnectMsMax = WorkerLimits.apartReconnectMsMax
    let transport = makeTransport(settings)
    apart.transport = transport
    return transport
  }

  /// Pushes that wait to be submitted, those that are tried apart included: a rate is drawn for both.
  var queuedInAll: Int { queued + apart.queue.count }

  /// Puts aside what waits and does not move, and closes the connection when nobody is in quarantine any more.
  func checkApart() {
    apart.quarantine.forget(nowNs: loop.nowNs)
    guard apart.queue.count > 0 else { return closeApart() }
    guard pauseMs != nil || apart.isStill(nowNs: loop.nowNs) else { return }
    let tags = apart.removeAll()
    owner.putAside(tags, of: self, forMs: pauseMs ?? WorkerLimits.parkedDelayMs)
  }

  /// Closes the connection when nobody is in quarantine any more.
  private func closeApart() {
    guard quarantine.isEmpty, let transport = apart.transport, transport.inFlight == 0 else {
      return
    }
    transport.close()
    apart.transport = nil
  }

  /// Whether the network has answered anything not long ago: then what it does to one push is about that push.
  var isAnswering: Bool {
    answeredNs.map { loop.nowNs &- $0 < WorkerLimits.answeringMs &* 1_000_000 } ?? false
  }
}

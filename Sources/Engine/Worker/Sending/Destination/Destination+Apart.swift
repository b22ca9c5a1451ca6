internal import CurlTransport
internal import HTTP2
internal import Reactor

// Pushes that are tried by themselves, on a connection of their own and one at a time: what breaks it is known then,
// and harms no other.
extension Destination {
  /// The network has complained of a request of a job. - Returns: whether the job is new in quarantine.
  func note(_ complaint: Quarantine.Complaint, ofJob job: String) -> Bool {
    quarantine.note(job, complaint, nowNs: loop.nowNs)
  }

  /// A request of the job was answered: it leaves quarantine.
  func noteAnswer(toJob job: String) { quarantine.clear(job) }

  /// - Returns: false when as many wait as may.
  func enqueueApart(_ tag: UInt64, rank: Int) -> Bool {
    guard apartQueue.count < WorkerLimits.apartPushesMax else { return false }
    if apartQueue.count == 0 { apartMovedNs = loop.nowNs }
    apartQueue.append(tag, rank: rank)
    owner.destinationHasWaiting(self)
    let transport = apart ?? openApart()
    transport.wake()
    return true
  }

  private func openApart() -> any Transport {
    var settings = settings
    settings.connectionsMax = 1
    settings.streamsMax = 1
    settings.reconnectMsMax = WorkerLimits.apartReconnectMsMax
    let transport = makeTransport(settings)
    apart = transport
    return transport
  }

  /// Pushes that wait to be submitted, those that are tried apart included: a rate is drawn for both.
  var queuedInAll: Int { queued + apartQueue.count }

  /// Puts aside what waits and does not move, and closes the connection when nobody is in quarantine any more.
  func checkApart() {
    quarantine.forget(nowNs: loop.nowNs)
    if apartQueue.count > 0 {
      if pauseMs != nil
        || loop.nowNs &- apartMovedNs >= WorkerLimits.unreachableMs &* 1_000_000
      {
        parkApart(forMs: pauseMs ?? WorkerLimits.parkedDelayMs)
      }
    } else if quarantine.isEmpty, let apart, apart.inFlight == 0 {
      apart.close()
      self.apart = nil
    }
  }

  private func parkApart(forMs delayMs: UInt64) {
    var tags: [UInt64] = []
    while let tag = apartQueue.popFirst() { tags.append(tag) }
    owner.putAside(tags, of: self, forMs: delayMs)
  }

  /// Whether the network has answered anything not long ago: then what it does to one push is about that push.
  var isAnswering: Bool {
    answeredNs.map { loop.nowNs &- $0 < WorkerLimits.answeringMs &* 1_000_000 } ?? false
  }
}

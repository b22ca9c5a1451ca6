internal import Logging
internal import Reactor

// A machine's clock that is not Redis's: nothing is judged by it, but somebody should set it.
extension Lane {
  /// The alarm of a machine whose clock is wrong; one lane of each process speaks of it.
  var clockTrouble: Dispatcher.Trouble? {
    guard settings.isFirst, let sentence = clockSentence(settings.clock.aheadMs) else {
      return nil
    }
    return Dispatcher.Trouble(field: "clock|\(settings.worker)", sentence: sentence)
  }

  /// Logs the difference when it begins, when it changes, and when it is over.
  func reportClock() {
    guard settings.isFirst else { return }
    let aheadMs = settings.clock.aheadMs
    guard let sentence = clockSentence(aheadMs) else {
      if loggedAheadMs != nil {
        log.notice("this machine's clock agrees with Redis's again")
        loggedAheadMs = nil
      }
      return
    }
    if let loggedAheadMs, abs(aheadMs - loggedAheadMs) <= WorkerLimits.clockDifferenceMsMax {
      return
    }
    loggedAheadMs = aheadMs
    log.error("\(sentence)", metadata: ["ahead_ms": "\(aheadMs)"])
  }

  /// Nil while the difference is small.
  private func clockSentence(_ aheadMs: Int64) -> String? {
    guard abs(aheadMs) > WorkerLimits.clockDifferenceMsMax else { return nil }
    let seconds = (abs(aheadMs) + 500) / 1_000
    return "the clock of worker \(settings.worker)'s machine is \(seconds) s "
      + "\(aheadMs > 0 ? "ahead of" : "behind") Redis's clock; the worker goes by Redis's: set this "
      + "machine's clock, or Redis's if all workers say so"
  }
}

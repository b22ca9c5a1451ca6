internal import Logging
internal import Model
internal import Reactor
internal import Redis
internal import Store

extension Lane {
  /// Keeps up with what operators switch off and on.
  func watchSwitches() async {
    let bell = makeBell()
    while !isDraining || dispatcher.runCount > 0 {
      do throws(RedisError) { try await readSwitches() } catch { log.debug("switches: \(error)") }
      await bell.wait(upToMs: WorkerLimits.switchesMs)
    }
  }

  /// Asks what is switched off, unless that was asked just now.
  func knowSwitches() async throws(RedisError) {
    if !dispatcher.knowsSwitches { try await readSwitches() }
  }

  func readSwitches() async throws(RedisError) {
    let askedNs = loop.nowNs
    let reading: SwitchReading
    do throws(RedisError) {
      reading = try await store.switches.read()
    } catch {
      guard case .server("WRONGTYPE", _) = error else { throw error }
      dispatcher.logOnce(
        "\(store.keys.switches) is no HASH, so nothing can be switched off: delete it")
      // What was off stays off.
      dispatcher.switchesReadNs = askedNs
      return
    }
    let before = dispatcher.use(reading, askedNs: askedNs)
    if reading.isOverfull {
      dispatcher.logOnce(
        "\(reading.count) switches are off and only \(StoreLimits.switchesMax) are honoured: "
          + "take some out of \(store.keys.switches)")
    }
    guard reading != before else { return }
    for field in reading.unknown where !before.unknown.contains(field) {
      log.warning("\(store.keys.switches) has a field that says nothing to this version: \(field)")
    }
    // Each lane learns it, one of a process says it.
    guard settings.isFirst else { return }
    let users = reading.entries.count { if case .user = $0.killSwitch { true } else { false } }
    let fields = reading.entries.map(\.killSwitch).compactMap { killSwitch in
      if case .user = killSwitch { nil as String? } else { killSwitch.field }
    }
    log.notice(
      "what is switched off has changed",
      metadata: ["off": "\(fields.sorted().joined(separator: " "))", "users": "\(users)"])
  }
}

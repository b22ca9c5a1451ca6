internal import Logging
internal import Model
internal import Providers
internal import Reactor
internal import Redis
internal import Store

extension Lane {
  /// Renews the leases of chunks that had nothing to settle, and learns what became of their jobs: each so often,
  /// and as soon as Redis can be asked again.
  func beatChunks() async {
    let everyMs = min(settings.leaseMs / 4, WorkerLimits.chunkBeatMs)
    while !isDraining || dispatcher.runCount > 0 {
      let runs = dispatcher.activeRuns.filter {
        // Half, because one that was renewed just after a look would otherwise be passed over at the next.
        $0.standing != .stale && loop.nowNs &- $0.renewedNs >= everyMs * 500_000
      }
      if !runs.isEmpty { await beat(runs) }
      await beatBell.wait(upToMs: everyMs)
    }
  }

  func beat(_ runs: [ChunkRun]) async {
    do throws(RedisError) {
      let standings = try await store.chunks.heartbeat(
        runs.map(\.claim), consumer: settings.consumer)
      for (run, standing) in zip(runs, standings) {
        // A final settlement may have ended the run in between.
        guard dispatcher.run(run.slot) === run, !run.isFinished else { continue }
        run.renewedNs = loop.nowNs
        heed(standing, run)
      }
    } catch { log.debug("heartbeat: \(error)") }
  }

  /// Has the fetching look for chunks whose workers fell silent before it claims new ones: a lane that is
  /// kept busy hardly ever has room at the moment that a timer chooses.
  func reclaim() async {
    let bell = makeBell()
    while !isDraining {
      await bell.wait(upToMs: max(1, settings.leaseMs / 4))
      isReclaimDue = true
      fetchSignal.raise()
    }
  }

  /// Takes over chunks whose workers fell silent. - Returns: whether there were any.
  func takeOver(max: Int) async throws(RedisError) -> Bool {
    let claims = try await store.chunks.reclaim(
      consumer: settings.consumer, leaseMs: settings.leaseMs, max: max)
    // With as many as were asked for there may be more.
    isReclaimDue = claims.count >= max
    for (index, claim) in claims.enumerated() {
      // After a silence of our own, our own chunks come back: they are being carried already. Another worker may have
      // had one in between, and have added other lines to it.
      if let run = dispatcher.run(carrying: claim), !run.agrees(with: claim) {
        heed(.stale, run)
      }
      guard !dispatcher.isCarrying(claim) else { continue }
      log.notice(
        "took over a chunk from a worker that fell silent",
        metadata: ["app": "\(claim.app)", "job": "\(claim.job)", "crashes": "\(claim.crashes)"])
      do throws(RedisError) {
        try await begin(claim)
      } catch {
        unbegun += claims[index...]
        throw error
      }
    }
    return !claims.isEmpty
  }

  /// Moves delayed chunks to their streams when their time has come, or waits for the worker that does to fall silent.
  func promote() async {
    let bell = makeBell()
    while !isDraining {
      var waitMs = WorkerLimits.promoteMsMax
      do throws(RedisError) {
        let moved = try await store.chunks.promote(
          max: WorkerLimits.promotionsMax, as: settings.consumer)
        if moved.taken > 0 { fetchSignal.raise() }
        if let next = moved.nextDueMs { waitMs = max(1, min(waitMs, next)) }
      } catch { log.debug("promote: \(error)") }
      await bell.wait(upToMs: waitMs)
    }
  }

  /// Looks after destinations that cannot be reached, and reports latencies and reasons.
  func keepHouse() async {
    let bell = makeBell()
    var beats = 0
    while !isDraining || dispatcher.runCount > 0 {
      dispatcher.checkReachable()
      dispatcher.checkDescriptors()
      beats += 1
      if beats % 60 == 0 { dispatcher.logReasons() }
      await reportLatency()
      reportClock()
      await reportAlarms()
      await bell.wait(upToMs: WorkerLimits.beatMs)
    }
    await reportLatency()
  }

  private func reportLatency() async {
    let counts = dispatcher.takeLatency().map {
      LatencyCount(network: $0.network, boundMs: Int($0.boundMs), count: $0.count)
    }
    guard !counts.isEmpty else { return }
    do throws(RedisError) {
      let seconds = settings.clock.nowMs / 1_000
      try await store.metrics.recordLatency(counts, minute: Minute.name(epochSeconds: seconds))
    } catch { log.debug("latency: \(error)") }
  }

  // MARK: Credentials

  /// Keeps a destination's credential: obtains it, renews it in time, and answers refusals.
  func keepCredential(_ number: Int) async {
    guard let destination = dispatcher.destinations[number] else { return }
    let source = destination.provider.credentials
    while !isEnded {
      var waitMs: UInt64
      do throws(CredentialError) {
        let credential: Credential
        if let refusal = destination.refusal {
          credential = try await source.refused(
            generation: refusal.generation, reason: refusal.reason)
        } else {
          credential = try await source.current()
        }
        destination.use(credential)
        waitMs = msUntil(credential.refreshAtMs)
      } catch {
        log.error(
          "\(error.reason)",
          metadata: [
            "app": "\(destination.app)", "network": "\(destination.provider.network.rawValue)",
          ])
        waitMs = min(msUntil(error.resumeAtMs), UInt64(CredentialLimits.pauseMsMax))
        destination.pause(forMs: waitMs)
      }
      await destination.credentialSignal.wait(upToMs: waitMs)
    }
  }

  private func msUntil(_ instantMs: Int64) -> UInt64 {
    let nowMs = settings.clock.nowMs
    // A second at least: a renewal that is due and fails is not to be tried in a circle.
    return UInt64(min(max(instantMs, nowMs + 1_000) - nowMs, 3_600_000))
  }

  // MARK: What the process reports

  func beat(worker: String, fields: [(String, String)]) async {
    // A worker that has taken its leave must not come back by a late beat.
    guard !isEnded else { return }
    do throws(RedisError) {
      let sentNs = loop.nowNs
      let serverMs = try await store.metrics.beat(worker: worker, fields: fields)
      settings.clock.learn(serverMs: serverMs, sentNs: sentNs, receivedNs: loop.nowNs)
    } catch { log.debug("beat: \(error)") }
  }

  func appendTimeline(_ statistics: LaneStatistics, acceptedPerSecond: Int) async {
    do throws(RedisError) {
      let status = try await store.metrics.status()
      let backlog = status.jobs.values.reduce(0, +) + status.chunks.values.reduce(0, +)
      let oldestMs = try await store.metrics.oldestWaitingMs()
      try await store.metrics.appendTimeline([
        ("backlog", String(backlog)), ("oldest_ready_ms", String(oldestMs)),
        ("delayed", String(status.delayed)),
        ("in_flight", String(statistics.inFlight)),
        ("accepted_per_second", String(acceptedPerSecond)),
      ])
    } catch { log.debug("timeline: \(error)") }
  }
}

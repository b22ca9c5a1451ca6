internal import Model
internal import Reactor
internal import Redis
internal import Store

extension Lane {
  /// Watches the streams for all lanes of the process, and wakes one for each entry that is added, as far as there are idle
  /// ones. Each of these wakes another when it finds as much as it asked for.
  func watchWork() async {
    guard let watch else { return }
    var lookedNs: UInt64 = 0
    while !isDraining {
      do throws(RedisError) {
        try await watch.connection.waitUntilReady(timeoutMs: WorkerLimits.idleMsMax)
        if loop.nowNs &- lookedNs >= WorkerLimits.idleMsMax * 1_000_000 {
          // Also what silent workers left is looked for now and then, and what was there before.
          try await watch.signal.pass()
          lookedNs = loop.nowNs
          settings.idle.wake(.jobs, .longestIdle)
          settings.idle.wake(.chunks, .longestIdle)
        }
        let news = try await watch.signal.wait(maxMs: WorkerLimits.idleMsMax)
        let isJobAwaited = !news.hasJobs || settings.idle.wake(.jobs)
        let isChunkAwaited = !news.hasChunks || settings.idle.wake(.chunks)
        guard !isJobAwaited || !isChunkAwaited else { continue }
        // Whoever has time next looks by itself: of what is added meanwhile not each entry has to be told.
        await loop.sleep(ms: WorkerLimits.busyWatchMs)
        try await watch.signal.pass()
      } catch {
        lookedNs = 0
        note(error, during: "waiting for work")
        guard !isDraining else { return }
        await loop.sleep(ms: WorkerLimits.redisPauseMs)
      }
    }
  }

  /// Takes producers' jobs in.
  func admit() async {
    defer { admitter.large.close() }
    var lookedForAbandonedNs: UInt64 = 0
    var wasHeld = false
    while !isDraining {
      do throws(RedisError) {
        if isRoutedDue { isRoutedDue = try await admitRouted() }
        let isTime = loop.nowNs &- lookedForAbandonedNs >= settings.leaseMs / 4 * 1_000_000
        if isTime { lookedForAbandonedNs = loop.nowNs }
        let intake = try await admitter.admitNext(abandonedForMs: isTime ? settings.leaseMs : nil)
        if intake != .nothing {
          fetchSignal.raise()
          // They come one at a time.
          if isTime { lookedForAbandonedNs = 0 }
        }
        if intake == .maybeMore { settings.idle.wake(.jobs) }
        guard intake == .all && !isTime || intake == .nothing, !isRoutedDue else { continue }
        // Of what is held back few come at a time, and more may be.
        let heldMs =
          intake == .nothing || wasHeld ? try await store.jobs.heldBackMs() : nil
        wasHeld = heldMs != nil
        if let ms = heldMs, settings.idle.watchHeld() {
          defer { settings.idle.leaveHeld() }
          await admitSignal.wait(upToMs: ms)
        } else {
          await waitForJobs()
        }
      } catch {
        note(error, during: "taking jobs in")
        guard !isDraining else { return }
        await loop.sleep(ms: WorkerLimits.redisPauseMs)
      }
    }
  }

  private func waitForJobs() async {
    let isIdle = settings.idle.enlist(settings.number, for: .jobs) { [weak self] in
      guard let self else { return }
      loop.execute { self.assumeIsolated { $0.admitSignal.raise() } }
    }
    guard isIdle else { return }
    await admitSignal.wait(upToMs: WorkerLimits.idleLaneMsMax)
    settings.idle.withdraw(settings.number, from: .jobs)
  }

  /// Takes in those of them that take long, one after the other.
  func admitLarge() async {
    var returnedNs: UInt64 = 0
    while let entry = await admitter.large.next() {
      while !isAborting {
        do throws(RedisError) {
          try await admitter.admitLarge(entry)
          break
        } catch {
          note(error, during: "taking jobs in")
          // What Redis refuses is tried again when the lease has run out.
          if case .server = error { break }
          guard !isDraining else { break }
          await loop.sleep(ms: WorkerLimits.redisPauseMs)
        }
      }
      let isTime = loop.nowNs &- returnedNs >= WorkerLimits.memoryReturnMs * 1_000_000
      guard isTime, entry.text.count > WorkerLimits.returnedBlockBytesMin else { continue }
      returnedNs = loop.nowNs
      await PreparedJob.returnMemory()
    }
  }
}

internal import Logging
internal import Model
internal import Reactor
internal import Redis
internal import Store

/// The work that one lane of each process does for all of it; loop-bound. It watches for work, says which routes there
/// are, promotes what is due, clears away, and provides the functions for registration.
final class Housekeeper {
  let agents: [AgentLoop]
  private let workWatch: WorkWatch

  /// - Parameter onRouted: called when jobs that waited for a route have one.
  init(
    _ context: LaneContext, onRouted: @escaping () -> Void
  ) throws(TLSError) {
    let (loop, settings, store) = (context.loop, context.settings, context.store)
    let (life, log) = (context.life, context.log)
    workWatch = WorkWatch(
      loop: loop,
      connection: try RedisConnection(
        loop: loop, endpoint: settings.redis, library: StoreLibrary.library),
      prefix: settings.prefix, idle: settings.shared.idle, reasons: context.reasons)
    let routeWatch = RouteWatch(
      store: store.routes, routes: settings.shared.routes, snapshot: context.snapshot, log: log,
      onWork: { [idle = settings.shared.idle] in
        idle.wake(.chunks)
        onRouted()
      })
    let promoter = Promoter(
      chunks: store.chunks, consumer: settings.consumer, log: log,
      onMoved: { [fetchSignal = context.fetchSignal] in fetchSignal.raise() })
    let untilDrained = { !life.isDraining }
    let placement = settings.shared.doors.map {
      PlacementKeeper(context, of: settings.shared.home == nil ? $0.shards : nil)
    }
    agents =
      [
        AgentLoop(
          RegistrationKeeper(registration: store.registration, log: log), on: loop,
          while: untilDrained),
        AgentLoop(workWatch, on: loop, while: untilDrained),
        AgentLoop(routeWatch, on: loop, while: untilDrained),
        AgentLoop(promoter, on: loop, while: untilDrained),
        AgentLoop(
          StreamWatch(streams: store.streams, log: log), on: loop, while: untilDrained),
        AgentLoop(
          Janitor(store: store, life: life, log: log), on: loop, firstAfterMs: Janitor.pauseMs(),
          while: untilDrained),
      ] + [placement].compactMap { $0 }.map { AgentLoop($0, on: loop, while: untilDrained) }
  }

  func start() { workWatch.start() }

  /// Ends the wait for work at once.
  func stop() { workWatch.stop() }
}

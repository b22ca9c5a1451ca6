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

  /// - Parameters:
  ///   - onRouted: called when jobs that waited for a route have one.
  ///   - fetchSignal: raised when chunks were promoted.
  init(
    loop: EventLoop, settings: LaneSettings, store: Store, life: LaneLife,
    reasons: ReasonLog, log: Logger, fetchSignal: LoopSignal, onRouted: @escaping () -> Void
  ) throws(TLSError) {
    workWatch = WorkWatch(
      loop: loop,
      connection: try RedisConnection(
        loop: loop, endpoint: settings.redis, library: StoreLibrary.library),
      prefix: settings.prefix, idle: settings.idle, reasons: reasons)
    let routeWatch = RouteWatch(
      store: store.routes, routes: settings.routes, unroutedMs: settings.unroutedMs,
      retentionSeconds: settings.retention.usual.manySeconds, log: log,
      onWork: { [idle = settings.idle] in
        idle.wake(.chunks)
        onRouted()
      })
    let promoter = Promoter(
      chunks: store.chunks, consumer: settings.consumer, log: log,
      onMoved: { fetchSignal.raise() })
    let untilDrained = { !life.isDraining }
    agents = [
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
    ]
  }

  func start() { workWatch.start() }

  /// Ends the wait for work at once.
  func stop() { workWatch.stop() }
}

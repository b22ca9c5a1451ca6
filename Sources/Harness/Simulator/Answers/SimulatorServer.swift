internal import HTTP2Server
internal import Glibc
internal import LocalServices
internal import Reactor

/// The server itself; loop-bound.
///
/// A turn's decisions are gathered; at its end the accept log is written, the counters are published,
/// and only then the answers are handed to their connections, which flush them in the same turn.
final class SimulatorServer {
  /// The delay of what follows a turn's answers, which have left by then.
  static let afterFlushMs: UInt64 = 1

  let loop: EventLoop
  let tls: TLSContext
  private let options: SimulatorOptions
  let state: SimulatorState
  let log: AcceptLog?
  private var received: ReceivedLog?
  private var listener: Listener!
  private(set) var networks: PushNetworks
  private var connections: [Int: SimulatedConnection] = [:]
  var counters = SimulatorCounters()

  // Copies of what each request asks for.
  private(set) var script: SimulatorScript
  private(set) var hasConnectionFaults = false
  private(set) var openLimit: UInt32

  var pending: [PendingAnswer] = []
  var delivering: [PendingAnswer] = []
  var delayed = DelayedAnswers()
  var earlyEnds: [PendingAnswer] = []
  var toDrop: [SimulatedConnection] = []
  var toDropLater: [SimulatedConnection] = []
  var accepted: [AcceptedPush] = []
  private var acceptsLeftToKeep: Int
  /// From then on the log has a gap, and nothing is accepted any more.
  var logHasFailed = false
  var heads = AnswerHeads()
  var isTurnScheduled = false
  var turnEnd: LoopTimer!
  var nextDelayed: LoopTimer!
  var afterFlush: LoopTimer!

  init(loop: EventLoop, setup: SimulatorSetup, state: SimulatorState) throws(SimulatorError) {
    self.loop = loop
    self.state = state
    options = setup.options
    tls = setup.tls
    log = setup.log
    received = setup.options.receivedDescriptor.map { ReceivedLog(descriptor: $0) }
    networks = setup.networks
    script = setup.networks.script
    openLimit = setup.options.maxConcurrentStreams
    acceptsLeftToKeep = setup.options.keptAcceptsMax
    turnEnd = LoopTimer(loop: loop) { [unowned self] in endTurn() }
    nextDelayed = LoopTimer(loop: loop) { [unowned self] in deliverDelayed() }
    afterFlush = LoopTimer(loop: loop) { [unowned self] in finishAfterFlush() }
    install(script)
    do {
      listener = try Listener(
        loop: loop, endpoint: .tcp(host: options.host, port: options.port)
      ) { [unowned self] descriptor in accept(descriptor) }
    } catch {
      throw SimulatorError(
        .unavailable, "cannot listen on \(options.host) port \(options.port): \(error)")
    }
  }

  var port: UInt16 { listener.port }
  var limitsNewConnections: Bool { options.limitsNewConnections }
  var limitsResets: Bool { options.limitsResets }

  func close() {
    listener.close()
    turnEnd.cancel()
    nextDelayed.cancel()
    afterFlush.cancel()
    for connection in connections.values { connection.connection.close() }
    _ = log?.write()
    publish()
  }

  func install(_ script: SimulatorScript) {
    self.script = script
    networks.install(script)
    hasConnectionFaults =
      script.stallAfter != nil || script.stopReadingAfter != nil || script.goAwayAfter != nil
      || !script.maxConcurrentStreams.isEmpty || script.resets != nil
      || script.dropConnectionAfter != nil || script.closeWithoutAnswerAfter != nil
    openLimit =
      script.maxConcurrentStreams.first { $0.after == 0 }?.value ?? options.maxConcurrentStreams
  }

  // MARK: Connections

  private func accept(_ descriptor: CInt) {
    counters.connectionsOpened += 1
    let connection = SimulatedConnection(
      server: self, number: counters.connectionsOpened,
      memory: ConnectionMemory(
        number: counters.connectionsOpened, validator: APNsValidator(topics: options.topics)))
    connections[connection.number] = connection
    counters.connectionsOpen = connections.count
    connection.begin(descriptor: descriptor)
    scheduleTurnEnd()
  }

  func forget(_ connection: SimulatedConnection) {
    connections[connection.number] = nil
    counters.connectionsOpen = connections.count
    delayed.removeClosed()
    scheduleTurnEnd()
  }

  /// Cuts a connection before this turn's answers leave.
  func dropAtEndOfTurn(_ connection: SimulatedConnection) {
    toDrop.append(connection)
    scheduleTurnEnd()
  }

  /// Cuts a connection when this turn's answers have left.
  func dropAfterFlush(_ connection: SimulatedConnection) {
    toDropLater.append(connection)
    afterFlush.schedule(afterMs: Self.afterFlushMs)
  }

  // MARK: Requests

  func process(
    _ request: ServerRequest, on connection: SimulatedConnection, isEarly: Bool,
    isCut: Bool = false
  ) {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    var delayMs: UInt64 = 0
    var answer = PendingAnswer(
      connection: connection, request: request, use: request.use, reaction: .stall,
      isAccepted: false, isCut: isCut)
    request.withBody { body in
      request.withPath { path in
        request.withMethod { method in
          var incoming = IncomingRequest(
            method: method, path: path, headers: APNsHeaders(), body: isEarly ? nil : body)
          request.forEachHeader { name, value in incoming.headers.take(name, value) }
          let decision = networks.decide(
            incoming, &connection.memory, nowSeconds: Int64(time.tv_sec))
          delayMs = decision.delayMs
          answer.reaction = decision.reaction
          if received != nil { show(request, incoming, decision.reaction) }
          guard let push = decision.acceptance else { return }
          answer.isAccepted = true
          note(push.token, of: push, request, connection, at: time)
          for token in push.otherTokens { note(token, of: push, request, connection, at: time) }
        }
      }
    }
    enqueue(answer, delayMs: delayMs, isEarly: isEarly)
  }

  private func show(
    _ request: ServerRequest, _ incoming: IncomingRequest, _ reaction: Decision.Reaction
  ) {
    var headers: [(name: String, value: String)] = []
    request.forEachHeader { name, value in headers.append((name.text, value.text)) }
    received?.note(incoming, headers: headers, answer: reaction.summary)
  }

  private func note(
    _ token: UnsafeRawBufferPointer, of push: Acceptance, _ request: ServerRequest,
    _ connection: SimulatedConnection,
    at time: timespec
  ) {
    let nowMs = Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    counters.accepted += 1
    if let log {
      let isWritten = log.append(
        token, of: push, connection: connection.number, stream: request.streamID, nowMs: nowMs)
      if !isWritten { logHasFailed = true }
    }
    guard acceptsLeftToKeep > 0 else { return }
    acceptsLeftToKeep -= 1
    accepted.append(
      AcceptedPush(
        network: push.network, token: token.text, topic: push.topic.text,
        connection: connection.number, stream: request.streamID, bodyHash: push.bodyHash,
        acceptedAtMs: nowMs))
  }
}

internal import HTTP2Server
internal import Glibc
internal import LocalServices
internal import Reactor

/// The server itself: its connections, and what the networks make of their requests; loop-bound.
final class SimulatorServer {
  let loop: EventLoop
  let tls: TLSContext
  private let options: SimulatorOptions
  let record: SimulatorRecord
  let turns: AnswerTurns
  private var received: ReceivedLog?
  private var listener: Listener!
  private(set) var networks: PushNetworks
  private var connections: [Int: SimulatedConnection] = [:]

  // Copies of what each request asks for.
  private(set) var script: SimulatorScript
  private(set) var hasConnectionFaults = false
  private(set) var openLimit: UInt32

  init(loop: EventLoop, setup: SimulatorSetup, state: SimulatorState) throws(SimulatorError) {
    self.loop = loop
    options = setup.options
    tls = setup.tls
    record = SimulatorRecord(
      state: state, log: setup.log, keptMax: setup.options.keptAcceptsMax)
    turns = AnswerTurns(loop: loop, record: record)
    received = setup.options.receivedDescriptor.map { ReceivedLog(descriptor: $0) }
    networks = setup.networks
    script = setup.networks.script
    openLimit = setup.options.maxConcurrentStreams
    install(script)
    record.onPublish = { [unowned self] in networks.note(in: &$0) }
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
    turns.stop()
    for connection in connections.values { connection.connection.close() }
    record.write()
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
    record.counters.connectionsOpened += 1
    let connection = SimulatedConnection(
      server: self, number: record.counters.connectionsOpened,
      memory: networks.memory(ofConnection: record.counters.connectionsOpened))
    connections[connection.number] = connection
    record.counters.connectionsOpen = connections.count
    connection.begin(descriptor: descriptor)
    turns.scheduleEnd()
  }

  func forget(_ connection: SimulatedConnection) {
    connections[connection.number] = nil
    record.counters.connectionsOpen = connections.count
    turns.removeClosed()
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
            method: method, path: path, headers: NetworkHeaders(), body: isEarly ? nil : body)
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
    turns.enqueue(answer, delayMs: delayMs, isEarly: isEarly)
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
    _ connection: SimulatedConnection, at time: timespec
  ) {
    record.note(
      token, of: push, connection: connection.number, stream: request.streamID,
      nowMs: Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000)
  }
}

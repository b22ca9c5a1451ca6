internal import Model
internal import NIOCore
internal import NIOHTTP1

/// An event that the reader of a body sends to the guard of its connection.
enum ConnectionEvent: Sendable {
  /// The body of the newest request is wanted: from now on it has to come.
  case bodyWanted
}

/// A body that came more slowly than `ServerLimits` allow.
struct BodyTooSlow: Error {}

/// Watches over one connection, between the parser and what answers: lets in requests that keep the rules, ends what takes too
/// long, and closes the connection so that the client gets the last answer; loop-bound.
final class ConnectionGuard: ChannelDuplexHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = HTTPServerRequestPart
  typealias OutboundIn = HTTPServerResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  /// Something that is to happen at a time.
  private enum Clock: Hashable {
    case head, body, writing, lingering
  }

  private let state: ServingState
  private var ledger = ConnectionLedger()
  private var context: ChannelHandlerContext?
  private var clocks: [Clock: Scheduled<Void>] = [:]
  /// Parts of requests that the parser has made.
  private(set) var partsSeen = 0
  /// Whether bytes of a head are here that is not whole.
  private var hasPartOfHead = false
  private var bodyBytes = 0
  private var bodySince = NIODeadline.now()
  private var isInputClosed = false
  /// Whether the last answer is on its way, and what still comes is thrown away.
  private(set) var isOver = false
  private var isLingering = false
  private var thrownAway = 0
  /// Bytes of answers that the system had not taken when it was last looked at them.
  private var unsentBytes = 0

  init(_ state: ServingState) { self.state = state }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    // A connection that never sends ends by the same clock.
    schedule(.head, seconds: ServerLimits.headerSeconds) { $0.headIsLate() }
  }

  func handlerRemoved(context: ChannelHandlerContext) { forget() }

  func channelInactive(context: ChannelHandlerContext) {
    forget()
    context.fireChannelInactive()
  }

  private func forget() {
    for clock in clocks.values { clock.cancel() }
    clocks = [:]
    context = nil
  }

  // MARK: Bytes, as the gate before the parser tells of them

  /// Bytes went to the parser.
  /// - Parameter madeParts: whether it made anything of them.
  func bytesWentIn(madeParts: Bool) {
    guard !madeParts, !ledger.isReading, ledger.takesMore else { return }
    hasPartOfHead = true
    if clocks[.head] == nil {
      schedule(.head, seconds: ServerLimits.headerSeconds) { $0.headIsLate() }
    }
  }

  /// Bytes came behind the last answer.
  func threwAway(_ count: Int) {
    thrownAway += count
    if thrownAway > ServerLimits.lingerBytesMax { context?.close(promise: nil) }
  }

  // MARK: Requests

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    partsSeen += 1
    switch Self.unwrapInboundIn(data) {
    case .head(let head):
      stop(.head)
      hasPartOfHead = false
      guard ledger.takesMore else { return }
      let fields = head.headers.map { (name: $0.name, value: $0.value) }
      let known = HeadRules.Head(
        method: head.method.rawValue, target: head.uri, major: head.version.major,
        minor: head.version.minor, fields: fields)
      if let fault = HeadRules.fault(in: known) { return refuse(fault) }
      let isHTTP10 = head.version.minor == 0
      ledger.begin(
        ConnectionLedger.Exchange(
          // The parser takes what follows an upgrade for another protocol.
          isLast: isHTTP10 || !head.isKeepAlive || head.headers.contains(name: "upgrade")
            || head.method == .CONNECT,
          isHTTP10: isHTTP10,
          expectsContinue: !isHTTP10 && head.headers.contains(name: "expect")))
      bodyBytes = 0
      context.fireChannelRead(data)
    case .body(let bytes):
      guard ledger.isReading else { return }
      bodyBytes += bytes.readableBytes
      context.fireChannelRead(data)
    case .end:
      guard ledger.isReading else { return }
      ledger.end()
      stop(.body)
      context.fireChannelRead(data)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard !isOver else { return }
    switch error {
    case let error as HTTPParserError:
      // Whoever reads the body answers.
      if ledger.isReading { return context.fireErrorCaught(error) }
      refuse(Self.problem(error))
    // Nothing is parsed behind an error.
    case is ByteToMessageDecoderError: break
    default: context.fireErrorCaught(error)
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event as? ChannelEvent == .inputClosed {
      isInputClosed = true
      if isLingering { return context.close(promise: nil) }
    }
    context.fireUserInboundEventTriggered(event)
  }

  /// Lets no more in, and says why unless other answers are due: the connection ends behind these.
  private func refuse(_ problem: Problem) {
    ledger.refuseMore()
    if !ledger.isAnswering { answer(problem) }
  }

  // MARK: Answers

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    guard !isOver else {
      promise?.fail(ChannelError.ioOnClosedChannel)
      return
    }
    switch Self.unwrapOutboundIn(data) {
    case .head(var head):
      let says = head.headers["connection"].contains { $0.lowercased() == "close" }
      guard let turn = ledger.answerBegins(saysLast: says || state.isStopping) else {
        promise?.fail(ChannelError.ioOnClosedChannel)
        return
      }
      if turn.saysLast { head.headers.replaceOrAdd(name: "connection", value: "close") }
      if turn.isHTTP10 { head.version = .http1_0 }
      context.write(Self.wrapOutboundOut(.head(head)), promise: promise)
    case .body:
      context.write(data, promise: promise)
    case .end:
      guard let isLast = ledger.answerEnds() else {
        promise?.fail(ChannelError.ioOnClosedChannel)
        return
      }
      guard isLast else { return context.write(data, promise: promise) }
      writeLast(data, promise: promise, context)
    }
  }

  /// Hummingbird closes an idle connection, and at the server's end every other behind its last answer. It does not look
  /// whether the answer is sent, and what is not would be lost.
  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    guard mode != .input, context.channel.isActive else {
      return context.close(mode: mode, promise: promise)
    }
    if let promise { context.channel.closeFuture.cascade(to: promise) }
    guard !isOver else { return }
    ledger.refuseMore()
    writeLast(nothing(context), promise: nil, context)
  }

  func triggerUserOutboundEvent(
    context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?
  ) {
    guard event is ConnectionEvent else {
      return context.triggerUserOutboundEvent(event, promise: promise)
    }
    promise?.succeed()
    guard ledger.isReading, !isOver else { return }
    if ledger.expectsContinue {
      let head = HTTPResponseHead(version: .http1_1, status: .continue)
      context.writeAndFlush(Self.wrapOutboundOut(.head(head)), promise: nil)
    }
    bodySince = .now()
    schedule(.body, seconds: ServerLimits.bodySeconds) { $0.lookAtBody() }
  }

  /// Answers a request that goes no further.
  private func answer(_ problem: Problem) {
    guard let context, !isOver else { return }
    state.figures.note(group: ServerFigures.refusedGroup, status: problem.status)
    let answer = Answer(problem.response, id: RequestName.next())
    var headers = HTTPHeaders(answer.fields.map { ($0.name, $0.value) })
    headers.add(name: "date", value: HTTPDate.now())
    headers.add(name: "connection", value: "close")
    headers.add(name: "content-length", value: String(answer.bytes.count))
    let head = HTTPResponseHead(
      version: .http1_1, status: HTTPResponseStatus(statusCode: answer.status), headers: headers)
    context.write(Self.wrapOutboundOut(.head(head)), promise: nil)
    let body = IOData.byteBuffer(context.channel.allocator.buffer(bytes: answer.bytes))
    context.write(Self.wrapOutboundOut(.body(body)), promise: nil)
    writeLast(Self.wrapOutboundOut(.end(nil)), promise: nil, context)
  }

  /// A part that adds no byte: it is written when all before it is.
  private func nothing(_ context: ChannelHandlerContext) -> NIOAny {
    Self.wrapOutboundOut(.body(.byteBuffer(context.channel.allocator.buffer(capacity: 0))))
  }

  /// Writes what the connection ends with, and ends it once that is sent.
  private func writeLast(
    _ data: NIOAny, promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext
  ) {
    isOver = true
    stop(.head)
    stop(.body)
    let written = context.eventLoop.makePromise(of: Void.self)
    if let promise { written.futureResult.cascade(to: promise) }
    written.futureResult.assumeIsolated().whenComplete { [weak self] _ in self?.linger() }
    context.writeAndFlush(data, promise: written)
    if !isLingering { watchWriting() }
  }

  /// Closes the sending half, and reads on for a while: a client that is still sending when the whole connection is closed is
  /// told of a reset, and may never see the answer.
  private func linger() {
    guard let context, !isLingering else { return }
    isLingering = true
    stop(.writing)
    guard !isInputClosed else { return context.close(promise: nil) }
    context.close(mode: .output, promise: nil)
    schedule(.lingering, seconds: ServerLimits.lingerSeconds) { $0.context?.close(promise: nil) }
    context.read()
  }

  // MARK: What takes too long

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if !context.channel.isWritable {
      watchWriting()
    } else if !isOver {
      stop(.writing)
    }
    context.fireChannelWritabilityChanged()
  }

  private func watchWriting() {
    guard clocks[.writing] == nil else { return }
    unsentBytes = unsentNow()
    schedule(.writing, seconds: ServerLimits.stuckSeconds) { $0.lookAtWriting() }
  }

  private func lookAtWriting() {
    guard unsentNow() < unsentBytes else {
      context?.close(promise: nil)
      return
    }
    watchWriting()
  }

  private func unsentNow() -> Int {
    (try? context?.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
  }

  private func headIsLate() {
    guard !ledger.isAnswering else { return ledger.refuseMore() }
    guard hasPartOfHead else {
      context?.close(promise: nil)
      return
    }
    refuse(
      Problem(
        408, "request timeout",
        "the header fields did not come within \(ServerLimits.headerSeconds) s"))
  }

  private func lookAtBody() {
    guard ledger.isReading, !isOver, let context else { return }
    let elapsedMs = (NIODeadline.now() - bodySince).nanoseconds / 1_000_000
    if Int64(bodyBytes) * 1_000 >= elapsedMs * Int64(ServerLimits.bodyBytesPerSecondMin) {
      return schedule(.body, seconds: ServerLimits.bodyCheckSeconds) { $0.lookAtBody() }
    }
    ledger.refuseMore()
    context.fireErrorCaught(BodyTooSlow())
  }

  private func schedule(
    _ clock: Clock, seconds: Int, _ body: @escaping (ConnectionGuard) -> Void
  ) {
    guard let context else { return }
    stop(clock)
    clocks[clock] = context.eventLoop.assumeIsolated().scheduleTask(in: .seconds(Int64(seconds))) {
      [weak self] in
      guard let self else { return }
      clocks[clock] = nil
      body(self)
    }
  }

  private func stop(_ clock: Clock) { clocks.removeValue(forKey: clock)?.cancel() }

  /// Tells what the parser refused.
  static func problem(_ error: HTTPParserError) -> Problem {
    switch error {
    case .headerOverflow:
      Problem(
        431, "request header fields too large",
        "the header has at most \(ServerLimits.headerBytesMax) bytes in \(ServerLimits.headerFieldsMax) fields"
      )
    case .invalidVersion:
      Problem(505, "http version not supported", "this server speaks HTTP/1.1")
    case .invalidEOFState: .badRequest("the request ended before it was whole")
    default: .badRequest("the request is no HTTP/1.1")
    }
  }
}

internal import HTTP2
internal import HTTPClient
internal import Providers
internal import Reactor

/// One request to a push network, over connections as workers have them; bound to its loop.
final class NetworkProbe: TransportDelegate {
  /// A request to be sent once.
  struct Request: Sendable {
    let headers: [(name: String, value: String)]
    let path: [UInt8]
    let body: [UInt8]
  }

  /// How far a request got that got no answer.
  enum Stage: String, Sendable {
    case name = "looking its name up"
    case connection = "TCP"
    case proxy = "the proxy"
    case tls = "TLS"
    case http = "HTTP/2"
  }

  enum Outcome: Sendable, Equatable {
    case answered(
      status: Int, contentType: [UInt8], body: [UInt8], isBodyCut: Bool, isPartial: Bool = false)
    /// A 200 in the form by which workers know that the network accepts (`PushProvider.acceptedForm`); they look no further.
    case accepted
    /// The connection stood, and nothing was to be asked.
    case connected
    case failed(Stage, String)
  }

  private let loop: EventLoop
  private let request: Request?
  private let head: RequestHead
  private var pool: ClientPool!
  private var deadline: LoopTimer!
  private var isSubmitted = false
  private var outcome: Outcome?
  private let finish: (Outcome) -> Void
  /// Keeps the probe alive while the pool, which does not, works for it.
  private var itself: NetworkProbe?

  private init(
    _ request: Request?, to destination: PushDestination, accepting form: AcceptedForm,
    on loop: EventLoop, withinMs: UInt64, _ finish: @escaping (Outcome) -> Void
  ) {
    self.loop = loop
    self.request = request
    self.finish = finish
    head = RequestHead(
      authority: destination.authority, path: request?.path ?? [], headers: request?.headers ?? [])
    var settings = ClientSettings(endpoint: destination.endpoint, tls: destination.tls)
    settings.acceptedForm = form
    settings.proxy = destination.proxy
    settings.serverName = destination.serverName
    settings.connectionsMax = 1
    settings.streamsMax = 1
    // Sooner than the whole: then the stage is named at which it stood still.
    settings.connectTimeoutMs = withinMs - withinMs / 8
    settings.requestTimeoutMs = withinMs
    pool = ClientPool(loop: loop, settings: settings, delegate: self)
    deadline = LoopTimer(loop: loop) { [unowned self] in
      conclude(.failed(.http, "there was no answer in time"))
    }
  }

  /// Sends a request and waits for its end.
  /// - Parameters:
  ///   - request: nil to see only whether the connection comes to stand.
  ///   - withinMs: how long to wait.
  static func outcome(
    of request: Request?, to provider: any PushProvider, on loop: EventLoop, withinMs: UInt64
  ) async -> Outcome {
    await withUnsafeContinuation { continuation in
      loop.execute {
        let probe = NetworkProbe(
          request, to: provider.destination, accepting: provider.acceptedForm, on: loop,
          withinMs: withinMs
        ) {
          continuation.resume(returning: $0)
        }
        probe.itself = probe
        probe.deadline.schedule(afterMs: withinMs)
        probe.pool.wake()
      }
    }
  }

  /// Ends the probe at the end of this turn. Why the connection broke says more than that the request has no answer.
  private func conclude(_ outcome: Outcome) {
    let isFirst = self.outcome == nil
    if case .failed(.http, _)? = self.outcome { self.outcome = outcome }
    guard isFirst else { return }
    self.outcome = outcome
    deadline.cancel()
    // Not within the pool's own call: closing frees what it is still using.
    let timer = LoopTimer(loop: loop) { [self] in
      // Closing ends a request that is still open, as one without an answer.
      let outcome = self.outcome ?? outcome
      pool.close()
      finish(outcome)
      itself = nil
    }
    timer.schedule(afterMs: 0)
  }

  // MARK: TransportDelegate

  func transport(_ transport: any Transport, hasRoomFor count: Int, in taker: any RequestTaker) {
    guard let request, !isSubmitted, count > 0, outcome == nil else { return }
    request.body.withUnsafeBytes { body in
      isSubmitted = taker.submit(
        head, path: UnsafeRawBufferPointer(start: nil, count: 0), body: RequestBody(copying: body),
        tag: 0)
    }
    transport.rest()
  }

  func transport(
    _ transport: any Transport, finished tag: UInt64, with answer: RequestAnswer
  ) -> ConnectionSign {
    let content = answer.content
    switch answer.disposition {
    case .answered where content.isAccepted: conclude(.accepted)
    case .answered:
      conclude(
        .answered(
          status: content.status, contentType: Array(content.contentType),
          body: Array(content.body), isBodyCut: content.isBodyCut, isPartial: content.isPartial))
    case .unknown, .notSent: conclude(.failed(.http, "the request was not answered"))
    case .malformed: conclude(.failed(.http, "the request was called malformed"))
    }
    return .none
  }

  func transport(_ transport: any Transport, connectionOpened total: Int) {
    if request == nil { conclude(.connected) }
  }

  func transport(_ transport: any Transport, connectionEnded end: ConnectionEnd) {
    conclude(.failed(Self.stage(of: end), "\(end)"))
  }

  func transport(_ transport: any Transport, replaced trouble: ConnectionTrouble) {}

  private static func stage(of end: ConnectionEnd) -> Stage {
    guard case .failed(let failure) = end else { return .http }
    return switch failure {
    case .resolve: .name
    case .system, .connectTimeout: .connection
    case .proxy: .proxy
    case .handshakeTimeout, .tls, .truncated: .tls
    case .noProtocol: .http
    }
  }
}

extension NetworkProbe {
  /// Sends a request to a network whose requests libcurl carries, over HTTP/2 or HTTP/1.1.
  static func outcome(
    of request: Request, to destination: PushDestination, trusting authorities: AccountAuthorities,
    by client: HTTPClient, withinMs: UInt64
  ) async -> Outcome {
    let pem: [UInt8]?
    do throws(TLSError) { pem = try authorities.pem() } catch {
      return .failed(.tls, error.message)
    }
    do throws(HTTPClientError) {
      let response = try await client.perform(
        HTTPRequest(
          method: "POST",
          url: "https://\(destination.authority)\(String(decoding: request.path, as: UTF8.self))",
          headers: request.headers, body: request.body,
          timeoutMs: Int(withinMs), authorities: pem,
          proxy: destination.proxy))
      return .answered(
        status: response.status, contentType: Array((response.header("content-type") ?? "").utf8),
        body: response.body, isBodyCut: false)
    } catch {
      let stage: Stage =
        switch error.code {
        case .unresolved: .name
        case .unreachable, .timedOut: .connection
        case .proxy: .proxy
        case .insecure: .tls
        case .invalidRequest, .busy, .closed, .responseTooLarge, .broken: .http
        }
      return .failed(stage, error.message)
    }
  }
}

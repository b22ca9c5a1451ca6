internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore

/// Answers the requests of the API and the dashboard: finds the route, lets the caller in or not, reads the body, and
/// writes what the route says.
struct APIResponder: HTTPResponder {
  private let index: RouteIndex
  private let gate: Gatekeeper
  private let services: Services
  private let state: ServingState
  private let log: Logger
  private let searches = SearchLine()
  private let largeBodies = LargeBodies()
  private let troubles: TroubleLog

  init(
    _ routes: [APIRoute], gate: Gatekeeper, services: Services, state: ServingState, log: Logger
  ) {
    index = RouteIndex(routes)
    self.gate = gate
    self.services = services
    self.state = state
    self.log = log
    troubles = TroubleLog(log)
  }

  func respond(to request: Request, context: APIContext) async throws -> Response {
    let started = ContinuousClock.now
    let id = RequestName.next()
    var route: APIRoute?
    let answer: APIResponse
    do throws(Problem) {
      answer = try await self.answer(request, context, id, &route)
    } catch {
      troubles.tell(error, of: id, route)
      answer = error.response
    }
    let whole = Answer(answer, id: id)
    let isStream = whole.stream != nil
    state.figures.note(
      group: route?.document.group ?? ServerFigures.refusedGroup, status: whole.status,
      tookNs: isStream ? nil : Self.nanoseconds(since: started))
    log.debug(
      "answered",
      metadata: [
        "request": "\(id)", "method": "\(request.method.rawValue)",
        "route": "\(route?.pattern.text ?? "")", "status": "\(whole.status)",
      ])
    return response(whole, to: request, id)
  }

  /// - Parameter found: the route, once it is known.
  private func answer(
    _ request: Request, _ context: APIContext, _ id: String, _ found: inout APIRoute?
  ) async throws(Problem) -> APIResponse {
    let target = request.head.path ?? ""
    let sides = target.split(
      separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let (route, path) = try find(request.method, String(sides[0]))
    found = route
    let headers = Self.headers(of: request)
    let head = RequestHead(route.method, path: target, headers: headers, address: context.peer)
    let caller = try await gate.caller(head)
    // A probe is never one too many.
    if route.document.group != HealthRoutes.group {
      try gate.admit(caller, to: route, path: path)
    }
    let query = try QueryText.fields(sides.count == 2 ? sides[1] : nil)
    var reader = BodyReader(state.bodies, of: caller)
    let body = try await reader.read(
      request, bytesMax: route.bodyBytesMax, on: context.channel)
    let whole = APIRequest(
      route.method, path: path, query: query, headers: headers, body: body, caller: caller, id: id)
    let answer = try await largeBodies.deal(withBytes: body.count) { () async throws(Problem) in
      try await handle(whole, by: route)
    }
    reader.finish()
    return answer
  }

  private func handle(
    _ request: APIRequest, by route: APIRoute
  ) async throws(Problem) -> APIResponse {
    guard route.isSearch else { return try await route.answer(request, services) }
    // Nobody who stops a campaign waits behind lists.
    let line = "\(request.method == .get ? "looks" : "acts") \(request.caller.name)"
    return try await searches.run(of: line) { () async throws(Problem) in
      try await route.answer(request, services)
    }
  }

  /// HEAD goes to what answers GET.
  private func find(
    _ method: HTTPRequest.Method, _ rawPath: String
  ) throws(Problem) -> (APIRoute, [String: String]) {
    let name = method == .head ? APIRequest.Method.get.rawValue : method.rawValue
    do throws(Problem) { return try index.find(method: name, rawPath: rawPath) } catch {
      var problem = error
      problem.headers = error.headers.map { field in
        guard field.name == "allow", field.value.contains("GET") else { return field }
        return (name: field.name, value: "\(field.value), HEAD")
      }
      throw problem
    }
  }

  static func headers(of request: Request) -> [String: String] {
    var headers = headers(
      request.headers.lazy.map { (name: $0.name.canonicalName, value: $0.value) })
    headers["host"] = request.head.authority
    return headers
  }

  /// Fields by their names in lower case; of several of one name the first. Those that are lists are put together, and so are
  /// those to which proxies add: the last word in them is the nearest proxy's.
  static func headers(
    _ fields: some Sequence<(name: String, value: String)>
  ) -> [String: String] {
    var headers: [String: String] = [:]
    for field in fields {
      guard let first = headers[field.name] else {
        headers[field.name] = field.value
        continue
      }
      switch field.name {
      case "cookie": headers[field.name] = "\(first); \(field.value)"
      case "x-forwarded-for", "x-forwarded-proto", "x-forwarded-host", "accept", "if-match",
        "if-none-match":
        headers[field.name] = "\(first), \(field.value)"
      default: break
      }
    }
    return headers
  }

  // MARK: What is written

  private func response(_ answer: Answer, to request: Request, _ id: String) -> Response {
    var fields = answer.httpFields
    let status = HTTPResponse.Status(code: answer.status)
    if request.method == .head {
      if answer.stream == nil { fields[.contentLength] = String(answer.bytes.count) }
      return Response(status: status, headers: fields)
    }
    guard let stream = answer.stream else {
      return Response(
        status: status, headers: fields,
        body: answer.bytes.isEmpty
          ? ResponseBody() : ResponseBody(byteBuffer: ByteBuffer(bytes: answer.bytes)))
    }
    return Response(status: status, headers: fields, body: body(of: stream, request, id))
  }

  /// A body that goes on until it ends by itself, the client has gone, or the server ends.
  private func body(
    of stream: @escaping @Sendable (any APIBodyWriter) async throws -> Void, _ request: Request,
    _ id: String
  ) -> ResponseBody {
    let figures = state.figures
    let log = log
    return ResponseBody { writer in
      let parts = StreamWriter(writer)
      figures.eventStreams(changedBy: 1)
      defer { figures.eventStreams(changedBy: -1) }
      do {
        try await request.body.consumeWithCancellationOnInboundClose { _ in
          try await StreamEnd.whenStopping { try await stream(parts) }
        }
      } catch is CancellationError {
        // A client that has gone gets nothing of it, and any other sees that it ended as it should.
      } catch {
        log.debug("a stream ended early", metadata: ["request": "\(id)", "error": "\(error)"])
        throw error
      }
      try await writer.finish(nil)
    }
  }

  private static func nanoseconds(since start: ContinuousClock.Instant) -> UInt64 {
    let (seconds, attoseconds) = (ContinuousClock.now - start).components
    return UInt64(max(0, seconds)) * 1_000_000_000 + UInt64(max(0, attoseconds) / 1_000_000_000)
  }
}

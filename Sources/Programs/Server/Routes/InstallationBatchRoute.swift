internal import Model
internal import Operations
internal import Redis
internal import Store

/// Installs many devices by one request. Each line is for itself: one that is refused hurts no other.
enum InstallationBatchRoute {
  private static let ndjson = "application/x-ndjson"

  static let post = APIRoute(
    .post, "/v1/apps/{app}/installations:batch", .roles([.server]),
    bodyBytesMax: ServerLimits.batchBytesMax,
    RouteDocument(
      "installations", "Install many devices",
      """
      The body has an installation a line (NDJSON), at most \(ServerLimits.batchLinesMax); blank lines do not count. Each is \
      installed as by PUT, in their order. The answer has a line for each, in the same order. When Redis is away the answer is \
      503: send the whole again, which does no harm.
      """,
      request: .init(type: ndjson, schema: InstallationSchema.post),
      answers: [
        .init(
          200, "A line for each line", .init(type: ndjson, schema: InstallationSchema.batchLine))
      ],
      problems: [
        (400, "The body has no line"), PathValue.unknownApp,
        (413, "The body has too many lines or bytes"), (422, "The app of the path breaks a rule"),
      ])
  ) { request, services throws(Problem) in
    let app = try PathValue.app(request, services)
    let lines = try Self.lines(of: request.body)
    let document = InstallationDocument(app: app)
    var answers: [UInt8] = []
    for first in stride(from: 0, to: lines.count, by: ServerLimits.batchAtOnce) {
      let group = lines[first..<min(first + ServerLimits.batchAtOnce, lines.count)]
      let documents = group.map { read(request.body[$0.bytes], document) }
      let outcomes = try await install(documents, of: app, services)
      for (line, outcome) in zip(group, outcomes) {
        answers += answer(line.number, outcome).bytes()
        answers.append(UInt8(ascii: "\n"))
      }
    }
    return APIResponse(200, .bytes(answers, type: ndjson))
  }

  /// A line that is not blank.
  struct Line {
    /// From 1.
    let number: Int
    let bytes: Range<Int>
  }

  /// - Throws: 413 for too many, 400 for none.
  static func lines(of body: [UInt8]) throws(Problem) -> [Line] {
    var lines: [Line] = []
    var number = 0
    var start = 0
    while start < body.count {
      let end = body[start...].firstIndex(of: UInt8(ascii: "\n")) ?? body.count
      number += 1
      if !body[start..<end].allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) {
        guard lines.count < ServerLimits.batchLinesMax else {
          throw Problem(
            413, "too large",
            "a batch has at most \(ServerLimits.batchLinesMax) lines: send several batches")
        }
        lines.append(Line(number: number, bytes: start..<end))
      }
      start = end + 1
    }
    guard !lines.isEmpty else {
      throw .badRequest("the body has no line: give an installation a line, as JSON")
    }
    return lines
  }

  private typealias Read = Result<Installation, InvalidField>
  private typealias Outcome = Result<InstallResult, InvalidField>

  private static func read(_ bytes: ArraySlice<UInt8>, _ document: InstallationDocument) -> Read {
    do throws(InvalidField) {
      let value = try bytes.withUnsafeBufferPointer { (buffer) throws(InvalidField) in
        try JSONValue(document: buffer)
      }
      return .success(try document.installation(value))
    } catch { return .failure(error) }
  }

  /// Installs those of a group that could be read, in one pipeline.
  /// - Returns: the outcome of each, also of the others.
  private static func install(
    _ group: [Read], of app: String, _ services: Services
  ) async throws(Problem) -> [Outcome] {
    let installations = group.compactMap { try? $0.get() }
    let outcomes = try await services.run(in: .app(app)) { store throws(RedisError) in
      let results = await store.installations.installEach(installations)
      return try results.map { (result) throws(RedisError) in try outcome(of: result) }
    }
    var next = outcomes.makeIterator()
    return group.compactMap { read in
      switch read {
      case .success: next.next()
      case .failure(let field): .failure(field)
      }
    }
  }

  /// - Throws: what is no fault of the line: all others would fail as well.
  private static func outcome(
    of result: Result<InstallResult, RedisError>
  ) throws(RedisError) -> Outcome {
    switch result {
    case .success(let installed): return .success(installed)
    case .failure(.server("INVALID", let message)):
      return .failure(InvalidField(pointer: "", message: message))
    case .failure(.server("WRONGTYPE", _)):
      return .failure(
        InvalidField(
          pointer: "",
          message: "something else stands under a key of this installation in Redis: PUT it alone, "
            + "and the server's log names the key"))
    case .failure(let error): throw error
    }
  }

  private static func answer(_ line: Int, _ outcome: Outcome) -> JSONValue {
    switch outcome {
    case .success(let result):
      [
        "line": .integer(line), "status": .string(result.status.rawValue),
        "object_id": .string(result.objectID),
      ]
    case .failure(let field):
      [
        "line": .integer(line),
        "error": ["pointer": .string(field.pointer), "detail": .string(field.message)],
      ]
    }
  }
}

internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import Operations

/// Answers on the listener for monitors: `/metrics`, and nothing else.
struct MetricsResponder: HTTPResponder {
  private static let path = "/metrics"

  private let page: MetricsPage

  init(_ page: MetricsPage) { self.page = page }

  func respond(to request: Request, context: APIContext) async throws -> Response {
    let answer = Answer(await self.answer(request), id: RequestName.next())
    var fields = answer.httpFields
    fields[.contentLength] = String(answer.bytes.count)
    return Response(
      status: HTTPResponse.Status(code: answer.status), headers: fields,
      body: request.method == .head
        ? ResponseBody() : ResponseBody(byteBuffer: ByteBuffer(bytes: answer.bytes)))
  }

  private func answer(_ request: Request) async -> APIResponse {
    guard request.uri.path == Self.path else {
      return Problem.notFound("this listener has \(Self.path) alone").response
    }
    guard request.method == .get || request.method == .head else {
      var problem = Problem(405, "method not allowed", "\(Self.path) takes GET alone")
      problem.headers = [(name: "allow", value: "GET, HEAD")]
      return problem.response
    }
    let format = MetricsAccept.format(APIResponder.headers(of: request)["accept"] ?? "")
    let text = await page.text(format)
    return APIResponse(200, .bytes(Array(text.utf8), type: format.contentType))
  }
}

/// The formats that a monitor takes (the field Accept: RFC 9110, 12.5.1).
enum MetricsAccept {
  /// OpenMetrics for whoever names it and likes it as well as plain text.
  static func format(_ accept: String) -> MetricsFormat {
    var openMetrics = 0
    var plain = 0
    for range in accept.split(separator: ",") {
      let parts = range.split(separator: ";").map { word in
        word.filter { $0 != " " && $0 != "\t" }.lowercased()
      }
      guard let type = parts.first else { continue }
      let weight = parts.first { $0.hasPrefix("q=") }.map { thousandths($0.dropFirst(2)) } ?? 1_000
      switch type {
      case "application/openmetrics-text": openMetrics = max(openMetrics, weight)
      case "text/plain": plain = max(plain, weight)
      default: break
      }
    }
    return openMetrics > 0 && openMetrics >= plain ? .openMetrics : .prometheus
  }

  /// `0.75` as 750; 0 for what is no weight.
  private static func thousandths(_ text: Substring) -> Int {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count <= 2, let whole = Int(parts[0]), (0...1).contains(whole) else { return 0 }
    guard parts.count == 2 else { return whole * 1_000 }
    guard parts[1].utf8.count <= 3, parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let part = Int((parts[1] + "000").prefix(3))
    else { return 0 }
    return min(1_000, whole * 1_000 + part)
  }
}

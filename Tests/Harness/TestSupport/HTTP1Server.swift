package import Reactor

/// An HTTP/1.1 server on a loopback port, over TLS, that keeps its connections; loop-bound. It answers requests with a length, one
/// after the other, as relays and proxies do.
package final class HTTP1Server {
  package struct Request {
    /// From `POST /path HTTP/1.1` to the last header, without the empty line.
    package let head: String
    package let body: String
  }

  private var listener: Listener!
  private var connections: [Connection] = []
  /// Requests read completely, and connections opened so far.
  package private(set) var received = 0
  package private(set) var opened = 0
  private let answer: (Request) -> String

  package var port: UInt16 { listener.port }

  /// - Parameter answer: gives the whole response.
  package init(
    loop: EventLoop, tls: TLSContext, answer: @escaping (Request) -> String
  ) throws {
    self.answer = answer
    listener = try Listener(loop: loop, endpoint: .tcp(host: "127.0.0.1", port: 0)) {
      [unowned self] descriptor in
      let connection = Connection { [unowned self] in respond(to: $0) }
      let stream = ByteStream(loop: loop, delegate: connection)
      connection.stream = stream
      connections.append(connection)
      opened += 1
      stream.adopt(descriptor: descriptor, tls: tls)
    }
  }

  /// Takes no more connections, and ends those that it has.
  package func close() {
    listener.close()
    closeConnections()
  }

  package func closeConnections() {
    for connection in connections { connection.stream?.close() }
    connections.removeAll()
  }

  package static func response(_ status: String = "200 OK", body: String = "{}") -> String {
    "HTTP/1.1 \(status)\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
      + body
  }

  private func respond(to request: Request) -> String {
    received += 1
    return answer(request)
  }

  private final class Connection: ByteStreamDelegate {
    var stream: ByteStream?
    private var input: [UInt8] = []
    private let respond: (Request) -> String

    init(respond: @escaping (Request) -> String) { self.respond = respond }

    func streamDidOpen(_ stream: ByteStream) {}
    func streamFillsOutput(_ stream: ByteStream) {}
    func stream(_ stream: ByteStream, didCloseWith failure: StreamFailure?) { self.stream = nil }

    func stream(_ stream: ByteStream, didRead bytes: UnsafeRawBufferPointer) {
      input += bytes
      while let request = takeRequest() {
        let response = Array(respond(request).utf8)
        _ = response.withUnsafeBytes { stream.write($0) }
        stream.requestFlush()
      }
    }

    private func takeRequest() -> Request? {
      let text = String(decoding: input, as: UTF8.self)
      guard let end = text.firstRange(of: "\r\n\r\n") else { return nil }
      let head = String(text[..<end.lowerBound])
      let lengthLine = head.split(separator: "\r\n").first {
        $0.lowercased().hasPrefix("content-length:")
      }
      let length = lengthLine.flatMap { Int($0.dropFirst(15).filter { $0 != " " }) } ?? 0
      let headBytes = head.utf8.count + 4
      guard input.count >= headBytes + length else { return nil }
      let body = String(decoding: input[headBytes..<headBytes + length], as: UTF8.self)
      input.removeFirst(headBytes + length)
      return Request(head: head, body: body)
    }
  }
}

import Foundation
import Glibc
import Synchronization

/// An HTTP/1.1 server on a loopback port of the system's choice: one thread a connection, one answer a connection. It
/// serves until it is closed: whoever needs only its port would lose it after its last use otherwise.
package final class LocalServer: Sendable {
  package struct Request: Sendable {
    package let head: String
    package let body: String
  }

  package let port: UInt16
  private let listener: CInt
  private let counter = Mutex(0)
  private let answer: @Sendable (Request) -> String

  /// Requests read completely so far.
  package var requestCount: Int { counter.withLock { $0 } }

  /// `answer` returns the raw response; it runs on the connection's thread and may block.
  package init(answer: @escaping @Sendable (Request) -> String) {
    self.answer = answer
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let descriptor = listener
    let isBound = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) == 0 && listen(descriptor, 64) == 0
          && getsockname(descriptor, $0, &length) == 0
      }
    }
    precondition(isBound, "no loopback port")
    port = UInt16(bigEndian: address.sin_port)
    spawn { [self] in
      while true {
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else { break }
        spawn { self.serve(connection) }
      }
      Glibc.close(listener)
    }
  }

  /// Takes no more connections. Those that are being served go on.
  package func close() {
    Glibc.shutdown(listener, Int32(SHUT_RDWR))
  }

  package static func response(
    status: String = "200 OK", headers: String = "", body: String
  ) -> String {
    "HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\(headers)Connection: close\r\n\r\n"
      + body
  }

  private func serve(_ connection: CInt) {
    defer { Glibc.close(connection) }
    var received: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = read(connection, &buffer, buffer.count)
      guard count > 0 else { return }
      received += buffer[..<count]
      let text = String(decoding: received, as: UTF8.self)
      guard let end = text.range(of: "\r\n\r\n") else { continue }
      let head = String(text[..<end.lowerBound])
      let body = String(text[end.upperBound...])
      guard body.utf8.count >= Self.contentLength(head) else { continue }
      counter.withLock { $0 += 1 }
      let response = Array(answer(Request(head: head, body: body)).utf8)
      var sent = 0
      while sent < response.count {
        let written = response[sent...].withUnsafeBytes {
          send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        guard written > 0 else { return }
        sent += written
      }
      return
    }
  }

  private static func contentLength(_ head: String) -> Int {
    for line in head.split(separator: "\r\n") {
      let parts = line.split(separator: ":", maxSplits: 1)
      if parts.count == 2, parts[0].lowercased() == "content-length" {
        return Int(parts[1].filter { $0 != " " }) ?? 0
      }
    }
    return 0
  }
}

private final class ThreadBody {
  let run: @Sendable () -> Void
  init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

private func spawn(_ run: @escaping @Sendable () -> Void) {
  var thread = pthread_t()
  pthread_create(&thread, nil, runBody, Unmanaged.passRetained(ThreadBody(run)).toOpaque())
  pthread_detach(thread)
}

private func runBody(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  if let context { Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue().run() }
  return nil
}

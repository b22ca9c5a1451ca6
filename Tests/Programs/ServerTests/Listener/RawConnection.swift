import Dispatch
import Glibc
import Testing

/// A connection to a port of this machine, over which a test sends whatever bytes it likes. The other side's bytes are
/// read on threads of their own.
final class RawConnection: Sendable {
  /// How long an answer may take on a machine that others keep busy.
  static let patienceMs = 120_000

  private let descriptor: CInt

  /// - Parameters:
  ///   - address: the last number of this side's address, 127.0.0.x.
  ///   - window: about how many bytes the kernels of both sides take ahead of the reader; nil for as many as they like.
  init(port: UInt16, from address: UInt32 = 1, window: CInt? = nil) throws {
    descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    if var window {
      setsockopt(
        descriptor, SOL_SOCKET, SO_RCVBUF, &window, socklen_t(MemoryLayout<CInt>.size))
      // The other side's kernel counts in segments, and those of the loopback have 64 KiB.
      var segment: CInt = 1_400
      setsockopt(
        descriptor, CInt(IPPROTO_TCP), TCP_MAXSEG, &segment,
        socklen_t(MemoryLayout<CInt>.size))
    }
    let number = descriptor
    let isConnected =
      Self.with(0x7f00_0000 | address, port: 0) { bind(number, $0, $1) == 0 }
      && Self.with(0x7f00_0001, port: port) { connect(number, $0, $1) == 0 }
    guard isConnected else {
      let error = RawConnectionError(errno: errno)
      close(descriptor)
      throw error
    }
  }

  private static func with(
    _ address: UInt32, port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Bool
  ) -> Bool {
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_addr.s_addr = address.bigEndian
    name.sin_port = port.bigEndian
    return withUnsafePointer(to: &name) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }

  deinit { close(descriptor) }

  /// Sends as much as the kernel takes at once, which is all of what tests send.
  func send(_ text: String) { send(Array(text.utf8)) }

  func send(_ bytes: [UInt8]) {
    _ = bytes.withUnsafeBytes {
      Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
    }
  }

  /// Says that nothing more comes.
  func endInput() { shutdown(descriptor, CInt(SHUT_WR)) }

  /// Reads one answer.
  /// - Parameter isToHead: whether it has no body, whatever its length is said to be.
  func answer(isToHead: Bool = false) async throws -> RawAnswer {
    let bytes = await read(withinMs: Self.patienceMs) {
      bytes in
      RawAnswer.length(of: bytes, isToHead: isToHead).map { bytes.count >= $0 } ?? false
    }
    return try #require(RawAnswer(bytes.bytes), "no answer: \(bytes.text)")
  }

  /// Reads until these words have come.
  func text(until words: String) async -> String {
    await read(withinMs: Self.patienceMs) {
      String(decoding: $0, as: UTF8.self).contains(words)
    }.text
  }

  /// Reads until the other side has closed the connection, or so long.
  func rest(withinMs: Int = patienceMs) async -> Received {
    await read(withinMs: withinMs) { _ in false }
  }

  /// Reads what has come, at most so many bytes of it.
  func part(bytesMax: Int) async -> Received {
    await read(withinMs: Self.patienceMs, bytesAtOnce: bytesMax) { !$0.isEmpty }
  }

  struct Received: Sendable {
    var bytes: [UInt8] = []
    /// Whether the other side has closed the connection.
    var isClosed = false

    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The statuses of the answers in it.
    var statuses: [Int] {
      text.components(of: "HTTP/1.").dropFirst().compactMap { Int($0.dropFirst(2).prefix(3)) }
    }
  }

  private func read(
    withinMs: Int, bytesAtOnce: Int = 65_536, until isEnough: @escaping @Sendable ([UInt8]) -> Bool
  ) async -> Received {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async { [self] in
        continuation.resume(
          returning: readNow(withinMs: withinMs, bytesAtOnce: bytesAtOnce, until: isEnough))
      }
    }
  }

  private func readNow(
    withinMs: Int, bytesAtOnce: Int, until isEnough: ([UInt8]) -> Bool
  ) -> Received {
    var received = Received()
    let deadline = DispatchTime.now() + .milliseconds(withinMs)
    var buffer = [UInt8](repeating: 0, count: bytesAtOnce)
    while !isEnough(received.bytes) {
      let now = DispatchTime.now()
      guard now < deadline else { break }
      let leftMs = (deadline.uptimeNanoseconds - now.uptimeNanoseconds) / 1_000_000 + 1
      var wish = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&wish, 1, CInt(leftMs)) > 0 else { continue }
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        received.isClosed = true
        break
      }
      received.bytes += buffer[..<count]
    }
    return received
  }
}

struct RawConnectionError: Error {
  let errno: CInt
}

/// An answer in its parts.
struct RawAnswer: Sendable {
  let status: Int
  /// By their names in lower case; the first of several.
  let headers: [String: String]
  let body: String

  init?(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    let halves = text.components(of: "\r\n\r\n")
    guard halves.count >= 2 else { return nil }
    let lines = halves[0].components(of: "\r\n")
    let words = lines[0].split(separator: " ")
    guard words.count >= 2, let status = Int(words[1]) else { return nil }
    self.status = status
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      let sides = line.split(separator: ":", maxSplits: 1)
      guard sides.count == 2 else { continue }
      let name = sides[0].lowercased()
      if headers[name] == nil { headers[name] = String(sides[1].drop { $0 == " " }) }
    }
    self.headers = headers
    body = halves.dropFirst().joined(separator: "\r\n\r\n")
  }

  /// How many bytes the first answer has; nil while that is not known.
  static func length(of bytes: [UInt8], isToHead: Bool) -> Int? {
    let text = String(decoding: bytes, as: UTF8.self)
    let halves = text.components(of: "\r\n\r\n")
    guard halves.count >= 2, let answer = RawAnswer(bytes) else { return nil }
    let head = halves[0].utf8.count + 4
    // An interim answer is not the one.
    guard answer.status >= 200 else { return nil }
    return isToHead ? head : head + (answer.headers["content-length"].flatMap { Int($0) } ?? 0)
  }
}

extension String {
  /// The parts between these words.
  func components(of words: String) -> [String] {
    var parts: [String] = []
    var rest = self[...]
    while let found = rest.firstRange(of: words) {
      parts.append(String(rest[..<found.lowerBound]))
      rest = rest[found.upperBound...]
    }
    return parts + [String(rest)]
  }
}

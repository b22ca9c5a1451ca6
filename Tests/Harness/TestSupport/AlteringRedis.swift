import LocalServices
package import Reactor
@testable package import Redis

/// Stands between a client and a real Redis and alters replies, each still well-formed RESP: what a foreign hand, another
/// version or a broken server may answer. Loop-bound.
package final class AlteringRedis {
  /// Of so many replies in a thousand one is altered.
  package var perMille: Int
  package private(set) var altered = 0
  /// Commands that the server is given once, by the name of another one: they run behind that, and before all that the client says
  /// when it has the reply.
  package var following: [String: [RedisCommand]] = [:]
  /// What is answered to commands of these names, in place of the server's reply.
  package var replies: [String: [String]] = [:]
  private let loop: EventLoop
  private let server: RedisEndpoint
  private var dice: SeededDice
  private var listener: Listener!
  private var clients: [AlteredClient] = []

  /// - Parameter seed: repeats the same alterations of the same replies.
  package init(
    loop: EventLoop, server: RedisEndpoint, seed: UInt64, perMille: Int
  ) throws {
    self.loop = loop
    self.server = server
    self.perMille = perMille
    dice = SeededDice(seed: seed)
    listener = try Listener(loop: loop, endpoint: .tcp(host: "127.0.0.1", port: 0)) {
      [unowned self] descriptor in
      guard let client = try? AlteredClient(self, loop, server, descriptor) else { return }
      clients.append(client)
    }
  }

  package var port: UInt16 { listener.port }
  package var url: String { "redis://127.0.0.1:\(port)" }

  package func close() {
    listener.close()
    for client in clients { client.close() }
    clients.removeAll()
  }

  fileprivate func gone(_ client: AlteredClient) { clients.removeAll { $0 === client } }

  /// What the client is told in place of a reply.
  fileprivate func alter(_ reply: RESPValue) -> RESPValue {
    guard dice.below(1_000) < perMille else { return reply }
    altered += 1
    return HostileReply.altered(reply, &dice)
  }
}

/// One client of the proxy, and its own connection to the server.
private final class AlteredClient: ByteStreamDelegate {
  private weak var proxy: AlteringRedis?
  private var stream: ByteStream!
  private let upstream: RedisConnection
  private let reader = ReplyReader()
  private var waiting: [RedisCommand] = []

  init(
    _ proxy: AlteringRedis, _ loop: EventLoop, _ server: RedisEndpoint, _ descriptor: CInt
  ) throws {
    self.proxy = proxy
    upstream = try RedisConnection(loop: loop, endpoint: server)
    stream = ByteStream(loop: loop, delegate: self)
    upstream.onReady = { [weak self] in
      guard let self else { return }
      for command in waiting { forward(command) }
      waiting.removeAll()
    }
    stream.adopt(descriptor: descriptor, tls: nil)
    upstream.connect()
  }

  func close() {
    upstream.onReady = nil
    upstream.close()
    stream.close()
  }

  private func forward(_ command: RedisCommand) {
    // What a connection says before it is ready has tests of its own.
    let name = CommandName.of(command)
    let isGreeting = ["PING", "FUNCTION", "CLIENT", "EXISTS", "AUTH", "SELECT", "HELLO"].contains(
      name)
    upstream.send(command, timeoutMs: nil) { [weak self] result in
      guard let self else { return }
      for next in proxy?.following.removeValue(forKey: name) ?? [] {
        upstream.send(next, timeoutMs: nil) { _ in }
      }
      let reply: RESPValue
      switch result {
      case .success(let sound): reply = RESPValue(sound)
      case .failure(.server(let code, let message)):
        reply = .error(.server(code: code, message: message))
      case .failure: return stream.close()
      }
      var bytes: [UInt8] = []
      if let words = proxy?.replies[name] {
        HostileReply.encode(.array(words.map { .string(Array($0.utf8)) }), to: &bytes)
      } else {
        HostileReply.encode(isGreeting ? reply : proxy?.alter(reply) ?? reply, to: &bytes)
      }
      _ = bytes.withUnsafeBytes { stream.write($0) }
      stream.requestFlush()
    }
  }

  func streamDidOpen(_ stream: ByteStream) {}

  func stream(_ stream: ByteStream, didRead bytes: UnsafeRawBufferPointer) {
    do throws(RedisError) {
      try reader.feed(bytes)
      while try reader.next({ take($0) }) {}
    } catch { stream.close() }
  }

  private func take(_ words: RedisReply) {
    var command = RedisCommand()
    for index in 0..<words.count { command.append(words[index].bytes) }
    if upstream.isReady { forward(command) } else { waiting.append(command) }
  }

  func streamFillsOutput(_ stream: ByteStream) {}

  func stream(_ stream: ByteStream, didCloseWith failure: StreamFailure?) {
    upstream.onReady = nil
    upstream.close()
    proxy?.gone(self)
  }
}

/// The first word of a command.
private enum CommandName {
  static func of(_ command: RedisCommand) -> String {
    let lines = command.body.prefix(64).split(separator: UInt8(ascii: "\n"), maxSplits: 2)
    return lines.count > 1 ? String(decoding: lines[1].dropLast(), as: UTF8.self) : ""
  }
}

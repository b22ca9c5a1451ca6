import Glibc

/// A real redis-server of one's own, or another ``RedisProgram``, on a Unix socket in a temporary folder: nothing else on this
/// machine sees it, and it is gone, with its data, when this object is released or closed, or its
/// owner dies.
///
/// Swift releases an object after its last use. Prefer ``with(_:_:)``, which keeps the server until
/// the body has returned.
package actor RedisServer {
  /// `unix:///tmp/pp-…/redis.sock`; with a password, percent-encoded, `unix://:password@/tmp/…`.
  package nonisolated let url: String
  package nonisolated let socketPath: String
  /// `redis://127.0.0.1:port`, with the password; nil without ``Options/tcp``.
  package nonisolated let tcpURL: String?
  /// `rediss://localhost:port`, with the password; nil without ``Options/tls``.
  package nonisolated let tlsURL: String?
  package nonisolated let port: UInt16?
  package nonisolated let tlsPort: UInt16?

  /// How long a server may take until it answers; it takes some 10 ms unless the machine is busy.
  private static let startMsMax: UInt64 = 60_000
  /// Servers that start at a time: of the hundred that tests want at once each would wait for all the others.
  private static let starts = Places(count: 4)
  private static let stopMsMax: UInt64 = 5_000
  /// A free port can be taken by another between its choice and redis-server's bind.
  private static let portAttempts = 5

  private let folder: TemporaryFolder
  private let password: String?
  /// Of the server; nil for the owner's.
  private let environment: [String: String]?
  private var child: ChildProcess

  /// Starts a server and returns when it answers PING.
  package static func start(
    _ options: Options = Options()
  ) async throws(LocalServiceError) -> RedisServer {
    await starts.enter()
    do throws(LocalServiceError) {
      let server = try await startNow(options)
      await starts.leave()
      return server
    } catch {
      await starts.leave()
      throw error
    }
  }

  private static func startNow(
    _ options: Options
  ) async throws(LocalServiceError) -> RedisServer {
    var lastFailure: LocalServiceError?
    for _ in 0..<(options.tcp || options.tls != nil ? portAttempts : 1) {
      do throws(LocalServiceError) {
        let server = try RedisServer(options)
        try await server.waitUntilReady()
        return server
      } catch {
        lastFailure = error
      }
    }
    throw lastFailure!
  }

  /// Runs `body` beside a server that lives until the body has returned.
  package static func with<Value>(
    _ options: Options = Options(), _ body: (RedisServer) async throws -> Value
  ) async throws -> Value {
    let server = try await start(options)
    do {
      let value = try await body(server)
      await server.close()
      return value
    } catch {
      await server.close()
      throw error
    }
  }

  private init(_ options: Options) throws(LocalServiceError) {
    let folder = try TemporaryFolder()
    self.folder = folder
    password = options.password
    environment = options.clock?.environment
    socketPath = folder.file("redis.sock")
    port = options.tcp ? try FreePort.find() : nil
    tlsPort = options.tls != nil ? try FreePort.find() : nil
    let user = options.password.map { ":\(percentEncoded($0))@" } ?? ""
    url = "unix://\(user)\(socketPath)"
    tcpURL = port.map { "redis://\(user)127.0.0.1:\($0)" }
    tlsURL = tlsPort.map { "rediss://\(user)localhost:\($0)" }
    let configuration = try RedisConfiguration.text(
      options, folder: folder, socketPath: socketPath, port: port, tlsPort: tlsPort)
    try PrivateFile.write(configuration, to: folder.file("redis.conf"))
    child = try RedisServer.launch(in: folder, environment)
  }

  /// The process; another one after each ``restart()``.
  package var pid: CInt { child.pid }

  /// Stops the server with SIGTERM; an append-only file stays for ``restart()``.
  package func stop() async {
    await child.terminate(graceMs: RedisServer.stopMsMax)
  }

  /// Ends the server with SIGKILL, as a crash would.
  package func kill9() async {
    await child.kill()
  }

  /// The role that it has by its own word, `master` or `slave`; nil when it does not answer at its port.
  package func role() -> String? {
    let answer = port.map { RedisProbe.answer(port: $0, to: "ROLE", password: password) } ?? ""
    return ["master", "slave"].first { answer.contains("\r\n\($0)\r\n") }
  }

  /// Whether a replica keeps up with it.
  package func hasReplica() -> Bool {
    let answer = port.map {
      RedisProbe.answer(port: $0, to: "INFO replication", password: password)
    }
    return answer?.contains("state=online") == true
  }

  /// Suspends the server's process: connections stay open and nothing is answered.
  package func freeze() {
    child.signal(SIGSTOP)
  }

  package func thaw() {
    child.signal(SIGCONT)
  }

  /// Starts the server again, at the same addresses; stops it first when it runs.
  package func restart() async throws(LocalServiceError) {
    await stop()
    child = try RedisServer.launch(in: folder, environment)
    try await waitUntilReady()
  }

  /// Ends the server and removes its folder; closing twice does nothing.
  package func close() async {
    await child.kill()
    folder.close()
  }

  private static func launch(
    in folder: TemporaryFolder, _ environment: [String: String]?
  ) throws(LocalServiceError) -> ChildProcess {
    do throws(LocalServiceError) {
      return try ChildProcess(
        RedisProgram.name, [folder.file("redis.conf")], environment: environment,
        folder: folder.path, output: .discard, error: .file(folder.file("redis.log")))
    } catch {
      throw LocalServiceError("\(error); \(RedisProgram.advice)")
    }
  }

  private func waitUntilReady() async throws(LocalServiceError) {
    let clock = ContinuousClock()
    let deadline = clock.now + .milliseconds(RedisServer.startMsMax)
    while clock.now < deadline {
      if let exit = child.exit {
        throw LocalServiceError(
          "\(RedisProgram.name) ended with \(exit) while starting: \(logEnd())")
      }
      if RedisProbe.answers(socketPath: socketPath, password: password) { return }
      do { try await Task.sleep(for: .milliseconds(1)) } catch {
        throw LocalServiceError("starting \(RedisProgram.name) was cancelled")
      }
    }
    throw LocalServiceError(
      "\(RedisProgram.name) did not answer within \(RedisServer.startMsMax) ms: \(logEnd())")
  }

  /// The end of the server's own log, for an error message.
  private func logEnd() -> String {
    guard let file = fopen(folder.file("redis.log"), "re") else { return "it wrote no log" }
    defer { fclose(file) }
    fseek(file, -500, SEEK_END)
    var bytes = [UInt8](repeating: 0, count: 500)
    let count = fread(&bytes, 1, bytes.count, file)
    return String(decoding: bytes[..<count], as: UTF8.self)
  }
}

/// Text in a URL's user information: all but RFC 3986's unreserved characters encoded.
private func percentEncoded(_ text: String) -> String {
  var result = ""
  for byte in text.utf8 {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
      UInt8(ascii: "_"), UInt8(ascii: "~"):
      result.unicodeScalars.append(Unicode.Scalar(byte))
    default:
      result += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
    }
  }
  return result
}

/// A number of places, first come first served.
package actor Places {
  private var free: Int
  private var waiting: [CheckedContinuation<Void, Never>] = []

  package init(count: Int) { free = count }

  package func enter() async {
    if free > 0 {
      free -= 1
      return
    }
    await withCheckedContinuation { waiting.append($0) }
  }

  package func leave() {
    if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
  }
}

/// A real Sentinel of one's own (`redis-server --sentinel`) on a free port of 127.0.0.1, with a folder that it may write to: it
/// is gone, with what it knows, when this object is released or closed, or its owner dies.
package actor SentinelServer {
  /// The master that it watches, and when it acts.
  package struct Options: Sendable {
    /// The port of the master on 127.0.0.1. Its replicas and the other sentinels are found through it.
    package var masterPort: UInt16
    /// The name that it knows the master by.
    package var master = "pushpool"
    /// How many sentinels must find the master dead.
    package var quorum = 2
    package var downAfterMs = 500
    package var failoverMsMax = 5_000
    /// Clients must give this password.
    package var password: String?
    /// Listens with TLS on a free port of 127.0.0.1 as well, and speaks TLS with the master and the other sentinels.
    package var tls: RedisServer.TLS?
    /// Further lines of sentinel.conf, such as users; they win over the others.
    package var configuration: [String] = []

    package init(masterPort: UInt16) { self.masterPort = masterPort }
  }

  package nonisolated let port: UInt16
  /// Nil without ``Options/tls``.
  package nonisolated let tlsPort: UInt16?

  private static let startMsMax: UInt64 = 60_000
  /// A free port can be taken by another between its choice and the bind.
  private static let portAttempts = 5

  private let folder: TemporaryFolder
  private let master: String
  private let password: String?
  private let child: ChildProcess

  /// Starts one and returns when it answers.
  package static func start(
    _ options: Options
  ) async throws(LocalServiceError) -> SentinelServer {
    var lastFailure: LocalServiceError?
    for _ in 0..<portAttempts {
      do throws(LocalServiceError) {
        let sentinel = try SentinelServer(options)
        try await sentinel.waitUntilReady()
        return sentinel
      } catch {
        lastFailure = error
      }
    }
    throw lastFailure!
  }

  /// Runs `body` beside so many sentinels of the same master, which live until it has returned.
  package static func with<Value>(
    _ count: Int, _ options: Options, _ body: ([SentinelServer]) async throws -> Value
  ) async throws -> Value {
    var sentinels: [SentinelServer] = []
    do {
      for _ in 0..<count { sentinels.append(try await start(options)) }
      let value = try await body(sentinels)
      for sentinel in sentinels { await sentinel.close() }
      return value
    } catch {
      for sentinel in sentinels { await sentinel.close() }
      throw error
    }
  }

  /// The URL for the configuration that names these.
  package static func url(_ sentinels: [SentinelServer], master: String = "pushpool") -> String {
    let hosts = sentinels.map { "127.0.0.1:\($0.port)" }.joined(separator: ",")
    return "redis+sentinel://\(hosts)/\(master)"
  }

  private init(_ options: Options) throws(LocalServiceError) {
    let folder = try TemporaryFolder()
    self.folder = folder
    port = try FreePort.find()
    tlsPort = options.tls == nil ? nil : try FreePort.find()
    password = options.password
    master = options.master
    let name = options.master
    var lines = [
      "port \(port)",
      "bind 127.0.0.1",
      "dir \(folder.path)",
      "logfile \(folder.file("sentinel.log"))",
      "daemonize no",
      "sentinel monitor \(name) 127.0.0.1 \(options.masterPort) \(options.quorum)",
      "sentinel down-after-milliseconds \(name) \(options.downAfterMs)",
      "sentinel failover-timeout \(name) \(options.failoverMsMax)",
    ]
    if let password = options.password { lines.append("requirepass \"\(password)\"") }
    if let tls = options.tls, let tlsPort {
      lines += RedisConfiguration.lines(of: tls, port: tlsPort) + ["tls-replication yes"]
    }
    lines += options.configuration
    let file = folder.file("sentinel.conf")
    try PrivateFile.write(lines.joined(separator: "\n") + "\n", to: file)
    child = try ChildProcess(
      RedisProgram.name, [file, "--sentinel"], folder: folder.path, output: .discard,
      error: .file(folder.file("sentinel.log")))
  }

  /// Whether it finds the master well, and knows of so many replicas of it and so many sentinels, itself among them.
  package func isWatching(replicas: Int, sentinels: Int) -> Bool {
    let info = RedisProbe.answer(port: port, to: "INFO sentinel", password: password)
    return info.contains("status=ok,")
      && info.contains("slaves=\(replicas),sentinels=\(sentinels)\r\n")
  }

  /// Has it make the replica the master, as an operator does whose master is well.
  package func failOver() {
    _ = RedisProbe.answer(port: port, to: "SENTINEL FAILOVER \(master)", password: password)
  }

  /// Has it take another address for the master's, as one that was told so by mistake.
  package func mistakeMaster(port other: UInt16) {
    for command in ["REMOVE \(master)", "MONITOR \(master) 127.0.0.1 \(other) 2"] {
      _ = RedisProbe.answer(port: port, to: "SENTINEL \(command)", password: password)
    }
  }

  /// Ends it with SIGKILL, as a crash would.
  package func kill9() async { await child.kill() }

  /// Ends it and removes its folder; closing twice does nothing.
  package func close() async {
    await child.kill()
    folder.close()
  }

  private func waitUntilReady() async throws(LocalServiceError) {
    let clock = ContinuousClock()
    let deadline = clock.now + .milliseconds(SentinelServer.startMsMax)
    while clock.now < deadline {
      if let exit = child.exit {
        throw LocalServiceError("\(RedisProgram.name) --sentinel ended with \(exit) while starting")
      }
      if RedisProbe.answer(port: port, to: "PING", password: password) == "+PONG\r\n" { return }
      do { try await Task.sleep(for: .milliseconds(1)) } catch {
        throw LocalServiceError("starting a Sentinel was cancelled")
      }
    }
    throw LocalServiceError("a Sentinel did not answer within \(SentinelServer.startMsMax) ms")
  }
}

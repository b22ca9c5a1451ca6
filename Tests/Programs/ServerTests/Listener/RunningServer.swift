import Glibc
import LocalServices
import Model
import Testing

/// The built server as its users run it, on ports that the system chooses.
final class RunningServer: Sendable {
  static let timeoutMs: UInt64 = 300_000

  let child: ChildProcess
  let port: UInt16
  /// 0 where there is no such listener.
  let metricsPort: UInt16

  private init(child: ChildProcess, port: UInt16, metricsPort: UInt16) {
    self.child = child
    self.port = port
    self.metricsPort = metricsPort
  }

  /// Starts a program that stands beside the tests, without the variables of whoever runs them.
  static func launch(
    _ program: String, _ arguments: [String], environment: [String: String] = [:],
    output: ChildProcess.Output = .discard
  ) throws -> ChildProcess {
    var variables = ["PATH": getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"]
    for name in ["LD_LIBRARY_PATH", "TMPDIR"] {
      if let value = getenv(name) { variables[name] = String(cString: value) }
    }
    variables["PUSHPOOL_REDIS_ACCEPTED_RISKS"] = "no_append_only_file"
    variables.merge(environment) { $1 }
    let path = program.contains("/") ? program : "\(try BuiltProgram.folder())/\(program)"
    return try ChildProcess(
      path, arguments, environment: variables, folder: "/", output: output, error: .pipe)
  }

  /// Returns once the server listens.
  static func start(
    redis url: String, _ arguments: [String] = [], hasMetrics: Bool = false,
    environment: [String: String] = [:]
  ) async throws -> RunningServer {
    let child = try launch(
      "pushpool-server",
      ["--redis", url, "--listen", "127.0.0.1:0"]
        + (hasMetrics ? ["--metrics", "127.0.0.1:0"] : []) + arguments, environment: environment)
    return try await wait(for: child, hasMetrics: hasMetrics)
  }

  /// Waits until a server listens.
  static func wait(
    for child: ChildProcess, hasMetrics: Bool = false
  ) async throws -> RunningServer {
    var port: UInt16?
    var metricsPort: UInt16? = hasMetrics ? nil : 0
    while port == nil || metricsPort == nil {
      let line = try #require(
        await child.standardError?.nextLine(containing: "listening for", timeoutMs: timeoutMs))
      let record = try #require(JSONParser().parse(line).objectValue)
      let address = try #require(record["address"]?.stringValue)
      let number = try #require(UInt16(address.split(separator: ":").last ?? ""))
      if record["message"]?.stringValue?.contains("metrics") == true {
        metricsPort = number
      } else {
        port = number
      }
    }
    return RunningServer(child: child, port: port ?? 0, metricsPort: metricsPort ?? 0)
  }

  /// Runs a body beside a Redis and a server.
  static func with<Value>(
    _ arguments: [String] = [], hasMetrics: Bool = false,
    _ body: (RunningServer, RedisServer) async throws -> Value
  ) async throws -> Value {
    try await RedisServer.with { redis in
      let server = try await start(redis: redis.url, arguments, hasMetrics: hasMetrics)
      // Other tests are not to find it in the middle of connecting.
      try await server.untilReady()
      let value = try await body(server, redis)
      await server.child.terminate(graceMs: timeoutMs)
      return value
    }
  }

  func connect(from address: UInt32 = 1, window: CInt? = nil) throws -> RawConnection {
    try RawConnection(port: port, from: address, window: window)
  }

  /// Makes a key; one of the role server is for the app `shop`.
  static func key(role: String, _ redis: RedisServer) async throws -> String {
    let app = role == "server" ? ["--app", "shop"] : []
    let making = try launch(
      "pushpool", ["keys", "create", "--role", role, "--json", "--redis", redis.url] + app,
      output: .pipe)
    let text = await making.standardOutput?.rest(timeoutMs: timeoutMs) ?? ""
    return try #require(JSONParser().parse(text).objectValue?["key"]?.stringValue)
  }

  /// Asks over a connection of its own.
  func ask(_ head: String, body: String = "", port: UInt16? = nil) async throws -> RawAnswer {
    let connection = try RawConnection(port: port ?? self.port)
    let length = body.isEmpty ? "" : "Content-Length: \(body.utf8.count)\r\n"
    connection.send("\(head)\r\nHost: localhost\r\n\(length)Connection: close\r\n\r\n\(body)")
    return try await connection.answer(isToHead: head.hasPrefix("HEAD "))
  }

  func get(_ path: String, port: UInt16? = nil) async throws -> RawAnswer {
    try await ask("GET \(path) HTTP/1.1", port: port)
  }

  /// Waits until /readyz answers with a status.
  func untilReady(_ status: Int = 200) async throws {
    let deadline = ContinuousClock.now + .milliseconds(Self.timeoutMs)
    var last = 0
    while last != status {
      try #require(ContinuousClock.now < deadline, "/readyz answers \(last), not \(status)")
      last = try await get("/readyz").status
    }
  }
}

import Glibc
import LocalServices
import Testing

@Suite struct RedisServerTests {
  @Test("a server answers at its socket, and is gone with its folder after closing")
  func startsAndGoes() async throws {
    let server = try await RedisServer.start()
    #expect(server.url == "unix://\(server.socketPath)")
    #expect(server.tcpURL == nil)
    #expect(try await redis(server, "SET", "k", "v") == "OK")
    #expect(try await redis(server, "GET", "k") == "v")
    let pid = await server.pid
    await server.close()
    await server.close()
    #expect(!isAlive(pid))
    #expect(access(server.socketPath, F_OK) != 0)
  }

  @Test("a server is gone when the body beside it throws")
  func goneAfterThrow() async throws {
    struct Failure: Error {}
    let seen = Seen()
    await #expect(throws: Failure.self) {
      try await RedisServer.with { server in
        seen.pid = await server.pid
        throw Failure()
      }
    }
    let pid = try #require(seen.pid)
    #expect(!isAlive(pid))
  }

  @Test("a released server is gone")
  func goneOnRelease() async throws {
    func pidOfReleased() async throws -> CInt {
      try await RedisServer.start().pid
    }
    #expect(!isAlive(try await pidOfReleased()))
  }

  @Test("an append-only server keeps what it answered through a kill -9, at the same addresses")
  func survivesKill() async throws {
    var options = RedisServer.Options()
    options.appendOnly = true
    options.tcp = true
    try await RedisServer.with(options) { server in
      #expect(try await redis(server, "SET", "k", "kept") == "OK")
      let first = await server.pid
      await server.kill9()
      #expect(!isAlive(first))
      try await server.restart()
      #expect(await server.pid != first)
      #expect(try await redis(server, "GET", "k") == "kept")
      let port = try #require(server.port)
      #expect(try await redisCLI(["-p", "\(port)", "GET", "k"]) == "kept")
    }
  }

  @Test("a server with a clock of its own tells its time, also when it was started again")
  func hasItsOwnClock() async throws {
    let folder = try TemporaryFolder()
    defer { folder.close() }
    let shift = try ClockShift(file: folder.file("clock"))
    var options = RedisServer.Options()
    options.clock = shift
    try await RedisServer.with(options) { server in
      for hours in [0, -1, 2] {
        try shift.set(realtimeMs: Int64(hours) * 3_600_000)
        // The seconds come first.
        let told = try #require(Int(try await redis(server, "TIME")))
        #expect(abs(told - hours * 3_600 - time(nil)) < 1_200, "\(hours) hours ahead")
        try await server.restart()
      }
    }
  }

  @Test("a server with a password refuses those without")
  func password() async throws {
    var options = RedisServer.Options()
    options.password = "p:4/s@"
    options.tcp = true
    try await RedisServer.with(options) { server in
      #expect(server.url == "unix://:p%3A4%2Fs%40@\(server.socketPath)")
      #expect(try await redis(server, "PING").hasPrefix("NOAUTH"))
      #expect(try await redis(server, "-a", "p:4/s@", "--no-auth-warning", "PING") == "PONG")
      let port = try #require(server.port)
      #expect(server.tcpURL == "redis://:p%3A4%2Fs%40@127.0.0.1:\(port)")
    }
  }

  @Test("a TLS server shows its certificate, and asks for one when it should")
  func tls() async throws {
    let folder = try TemporaryFolder()
    let authority = try CertificateAuthority(folder: folder.path)
    var options = RedisServer.Options()
    options.tls = .init(try authority.issueServer(), requiresClientCertificate: true)
    try await RedisServer.with(options) { server in
      let client = try authority.issueClient(commonName: "worker")
      let port = try #require(server.tlsPort)
      #expect(server.tlsURL == "rediss://localhost:\(port)")
      let command = [
        "--tls", "-h", "localhost", "-p", "\(port)", "--cacert", authority.certificateFile,
      ]
      let identity = ["--cert", client.certificateFile, "--key", client.keyFile]
      #expect(try await redisCLI(command + identity + ["PING"]) == "PONG")
      #expect(try await redisCLI(command + ["PING"]) != "PONG")
    }
  }

  @Test("a server that cannot start says why in its own words")
  func cannotStart() async throws {
    var options = RedisServer.Options()
    options.configuration = ["no-such-directive yes"]
    await #expect {
      try await RedisServer.start(options)
    } throws: {
      "\($0)".contains("no-such-directive")
    }
  }

  @Test("servers and sentinels are started by the program that a variable names")
  func otherProgram() async throws {
    #expect(RedisProgram.name(given: nil) == "redis-server")
    #expect(RedisProgram.name(given: "") == "redis-server")
    #expect(RedisProgram.name(given: "valkey-server") == "valkey-server")
    let result = try #require(
      await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
        setenv(RedisProgram.variable, "/nowhere/valkey-server", 1)
        do { _ = try await RedisServer.start() } catch { print("server: \(error)") }
        do { _ = try await SentinelServer.start(.init(masterPort: 1)) } catch {
          print("sentinel: \(error)")
        }
      })
    let output = String(decoding: result.standardOutputContent, as: UTF8.self)
    #expect(output.contains("server: cannot start /nowhere/valkey-server"), "\(output)")
    #expect(output.contains("sentinel: cannot start /nowhere/valkey-server"), "\(output)")
  }

  @Test("a server and its folder go with a process that is killed")
  func goesWithKilledOwner() async throws {
    let result = try #require(
      await #expect(processExitsWith: .signal(SIGKILL), observing: [\.standardOutputContent]) {
        let server = try await RedisServer.start()
        print("left: \(await server.pid) \(server.socketPath)")
        fflush(nil)
        raise(SIGKILL)
      })
    try expectNothingLeft(String(decoding: result.standardOutputContent, as: UTF8.self))
  }

  @Test("a server and its folder go with a process that Ctrl-C ends")
  func goesWithInterruptedOwner() async throws {
    let result = try #require(
      await #expect(processExitsWith: .signal(SIGINT), observing: [\.standardOutputContent]) {
        let server = try await RedisServer.start()
        print("left: \(await server.pid) \(server.socketPath)")
        fflush(nil)
        // A shell without job control starts its background jobs with SIGINT ignored.
        signal(SIGINT, SIG_DFL)
        // To the process, as a terminal does: the threads of Swift's pools block signals.
        kill(getpid(), SIGINT)
        while true { pause() }
      })
    try expectNothingLeft(String(decoding: result.standardOutputContent, as: UTF8.self))
  }

  @Test("a server starts in well under a second, on a machine that starts programs as usual")
  func startsFast() async throws {
    let clock = ContinuousClock()
    var fastest = Duration.seconds(60)
    var fastestProgram = Duration.seconds(60)
    for _ in 0..<3 {
      let begin = clock.now
      let program = try ChildProcess(RedisProgram.name, ["--version"], output: .discard)
      #expect(await program.waitForExit(timeoutMs: patienceMs) == .code(0))
      let between = clock.now
      let server = try await RedisServer.start()
      fastest = min(fastest, clock.now - between)
      fastestProgram = min(fastestProgram, between - begin)
      await server.close()
    }
    // A slow or busy machine takes 5 ms and more to start any program.
    #expect(fastest < max(.milliseconds(500), fastestProgram * 50))
  }
}

/// Waits until the process and the folder in a line `left: pid socket` of a
/// dead owner are gone.
private func expectNothingLeft(_ output: String) throws {
  let line = try #require(output.split(separator: "\n").first { $0.hasPrefix("left: ") })
  let fields = line.split(separator: " ")
  let pid = try #require(CInt(fields[1]))
  let folder = String(fields[2].dropLast("/redis.sock".count))
  let clock = ContinuousClock()
  let deadline = clock.now + .milliseconds(Int64(patienceMs))
  while isRunning(pid) || access(folder, F_OK) == 0, clock.now < deadline { sched_yield() }
  #expect(!isRunning(pid))
  #expect(access(folder, F_OK) != 0)
}

/// Whether a process runs. A dead one whose owner died before may stay a zombie for as long as the
/// machine's init leaves it so.
private func isRunning(_ pid: CInt) -> Bool {
  guard let file = fopen("/proc/\(pid)/stat", "re") else { return false }
  defer { fclose(file) }
  var bytes = [UInt8](repeating: 0, count: 256)
  let text = String(decoding: bytes[..<fread(&bytes, 1, bytes.count, file)], as: UTF8.self)
  return !text.isEmpty && !text.contains(") Z ")
}

private final class Seen: @unchecked Sendable {
  var pid: CInt?
}

private func redis(_ server: RedisServer, _ command: String...) async throws -> String {
  try await redisCLI(["-s", server.socketPath] + command)
}

private func redisCLI(_ arguments: [String]) async throws -> String {
  let cli = try ChildProcess("redis-cli", arguments, output: .pipe, error: .discard)
  let text = await cli.standardOutput?.rest(timeoutMs: patienceMs) ?? ""
  return String(text.split(separator: "\n", omittingEmptySubsequences: true).first ?? "")
}

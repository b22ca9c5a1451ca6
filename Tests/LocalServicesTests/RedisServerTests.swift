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

  @Test("a server with a password refuses those without")
  func password() async throws {
    var options = RedisServer.Options()
    options.password = "p:4ss"
    options.tcp = true
    try await RedisServer.with(options) { server in
      #expect(server.url == "unix://:p:4ss@\(server.socketPath)")
      #expect(try await redis(server, "PING").hasPrefix("NOAUTH"))
      #expect(try await redis(server, "-a", "p:4ss", "--no-auth-warning", "PING") == "PONG")
      let port = try #require(server.port)
      #expect(server.tcpURL == "redis://:p:4ss@127.0.0.1:\(port)")
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

  @Test("a server dies with the process that started it, and so does its folder")
  func diesWithOwner() async throws {
    // The owner is a copy of this test process, which starts a server and waits to be killed.
    let owner = try ChildProcess(
      "/proc/self/exe", ProcessInfoArguments.forOwner, output: .pipe, error: .discard)
    _ = owner
  }
}

private final class Seen: @unchecked Sendable {
  var pid: CInt?
}

private func redis(_ server: RedisServer, _ command: String...) async throws -> String {
  try await redisCLI(["-s", server.socketPath] + command)
}

private func redisCLI(_ arguments: [String]) async throws -> String {
  let cli = try ChildProcess("redis-cli", arguments, output: .pipe, error: .discard)
  let text = await cli.standardOutput?.rest(timeoutMs: 5_000) ?? ""
  return String(text.split(separator: "\n", omittingEmptySubsequences: true).first ?? "")
}

import Glibc
import LocalServices
import Testing

/// Where a server listens, and what it says when it cannot.
@Suite struct ListenTests {
  private static func fails(
    _ arguments: [String], environment: [String: String] = [:]
  ) async throws -> (status: ChildProcess.Exit?, error: String) {
    let child = try RunningServer.launch("pushpool-server", arguments, environment: environment)
    let exit = await child.waitForExit(timeoutMs: RunningServer.timeoutMs)
    return (exit, await child.standardError?.rest(timeoutMs: RunningServer.timeoutMs) ?? "")
  }

  @Test("an address that another program has is told, with the option that chooses another")
  func inUse() async throws {
    try await RunningServer.with { server, redis in
      let taken = "127.0.0.1:\(server.port)"
      let failed = try await Self.fails(["--listen", taken, "--redis", redis.url])
      #expect(failed.status == .code(69))
      #expect(
        failed.error.contains("pushpool-server: cannot listen at \(taken): another program does"),
        "\(failed.error)")
      let metrics = try await Self.fails(
        ["--listen", "127.0.0.1:0", "--metrics", taken, "--redis", redis.url])
      #expect(metrics.status == .code(69) && metrics.error.contains("with --metrics HOST:PORT"))
    }
  }

  @Test("an address of another machine, and a name that nobody has, are told")
  func elsewhere() async throws {
    // TEST-NET-1 (RFC 5737) and a top-level name that is kept free (RFC 6761).
    for address in ["192.0.2.1:0", "no-such-host.invalid:0"] {
      let failed = try await Self.fails(["--listen", address])
      #expect(failed.status == .code(78), "\(address)")
      #expect(failed.error.contains("cannot listen at \(address): "), "\(failed.error)")
    }
  }

  @Test("a wrong option is a usage error, and a wrong file one of the configuration")
  func wrong() async throws {
    for (arguments, status, part) in [
      (["--listen", "8080"], CInt(64), "--listen must be HOST:PORT"),
      (["--metrics", "here"], 64, "--metrics must be HOST:PORT"),
      (["--listen", ""], 64, "--listen is empty"), (["--redis="], 64, "--redis is empty"),
      (["--redis", "http://a"], 64, "--redis must begin with"), (["--nothing"], 64, "--nothing"),
      (["extra"], 64, "extra"), (["--config", "/nonexistent"], 78, "/nonexistent"),
    ] {
      let failed = try await Self.fails(arguments)
      #expect(failed.status == .code(status), "\(arguments): \(failed.error)")
      #expect(failed.error.contains(part), "\(arguments): \(failed.error)")
    }
    let folder = try TemporaryFolder()
    let file = folder.file("pushpool.yaml")
    try PrivateFile.write(
      "serve: {user_tokens: [{app: shop, algorithm: HS256, key_file: none}]}\n", to: file)
    let keyless = try await Self.fails(["--config", file])
    #expect(keyless.status == .code(78))
    #expect(
      keyless.error.contains(
        "\(file):1: serve.user_tokens[0].key_file: \(folder.path)/none cannot"),
      "\(keyless.error)")
    try PrivateFile.write("short\n", to: folder.file("none"))
    let short = try await Self.fails(["--config", file])
    #expect(short.status == .code(78) && short.error.contains("serve.user_tokens[0].key_file"))
  }

  @Test("an app's files need not be here, and variables choose the address as well")
  func appsElsewhere() async throws {
    try await RedisServer.with { redis in
      let folder = try TemporaryFolder()
      let file = folder.file("pushpool.yaml")
      try PrivateFile.write(
        "apps: [{id: shop, fcm: {service_account_file: none.json}}]\nserve: {listen: 'nowhere:1'}\n",
        to: file)
      let child = try RunningServer.launch(
        "pushpool-server", ["--config", file],
        environment: [
          "PUSHPOOL_REDIS_URL": redis.url, "PUSHPOOL_SERVE_LISTEN": "127.0.0.1:0",
        ])
      let server = try await RunningServer.wait(for: child)
      try await server.untilReady()
      #expect(await child.terminate(graceMs: RunningServer.timeoutMs) == .code(0))
    }
  }

  @Test("help and version are answers")
  func help() async throws {
    let child = try RunningServer.launch("pushpool-server", ["--help"], output: .pipe)
    let text = await child.standardOutput?.rest(timeoutMs: RunningServer.timeoutMs) ?? ""
    #expect(await child.waitForExit(timeoutMs: RunningServer.timeoutMs) == .code(0))
    #expect(text.contains("pushpool-server --listen 0.0.0.0:8080") && text.contains("--metrics"))
  }
}

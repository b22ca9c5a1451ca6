import Glibc
import LocalServices
import Testing

@Suite struct MetricsTests {
  /// Something that is counted.
  private func fill(_ redis: RedisServer, accepted: Int) async throws {
    let child = try ChildProcess(
      "redis-cli",
      [
        "-s", redis.socketPath, "HSET", "pushpool:totals", "shop|apns|accepted", String(accepted),
        "since", "1790000000000",
      ], output: .discard)
    #expect(await child.waitForExit(timeoutMs: Pushpool.timeoutMs) == .code(0))
  }

  private static let accepted =
    #"pushpool_pushes_total{app="shop",network="apns",outcome="accepted"}"#

  @Test("the metrics are printed in the format that is asked for")
  func prints() async throws {
    try await RedisServer.with { redis in
      try await fill(redis, accepted: 12)
      let plain = try await Pushpool.run("metrics", "--redis", redis.url)
      #expect(plain.status == 0 && plain.error.isEmpty, "\(plain)")
      #expect(plain.output.contains("\n\(Self.accepted) 12\n"), "\(plain)")
      #expect(plain.output.hasPrefix("# HELP pushpool_pushes_total "))
      #expect(plain.output.hasSuffix("\n") && !plain.output.contains("# EOF"))
      let open = try await Pushpool.run(
        "metrics", "--format", "openmetrics", "--redis", redis.url)
      #expect(open.status == 0 && open.output.hasSuffix("\n# EOF\n"), "\(open)")
      #expect(open.output.contains("# TYPE pushpool_pushes counter\n"), "\(open)")
      let none = try await Pushpool.run("metrics", "--format", "json", "--redis", redis.url)
      #expect(none.status == 64 && none.error.contains("openmetrics"), "\(none)")
      let json = try await Pushpool.run("metrics", "--json", "--redis", redis.url)
      #expect(json.status == 64 && json.error.contains("pushpool status --json"), "\(json)")
    }
  }

  @Test("a file is replaced as a whole, and stays as it is while Redis is away")
  func replaces() async throws {
    try await RedisServer.with { redis in
      let folder = try TemporaryFolder()
      defer { folder.close() }
      let file = folder.file("pushpool.prom")
      try PrivateFile.write("old\n", to: file)
      // Whoever has it open reads on in the old one.
      let reader = try #require(fopen(file, "re"))
      defer { fclose(reader) }
      try await fill(redis, accepted: 12)
      let first = try await Pushpool.run("metrics", "--output", file, "--redis", redis.url)
      #expect(first.status == 0 && first.output.isEmpty && first.error.isEmpty, "\(first)")
      var line = [CChar](repeating: 0, count: 16)
      #expect(fgets(&line, 16, reader) != nil && line[0] == CChar(UInt8(ascii: "o")))
      let text = try #require(TextFile.read(file, bytesMax: 1 << 20))
      #expect(text.contains("\n\(Self.accepted) 12\n") && text.hasSuffix("\n"))
      var status = stat()
      #expect(stat(file, &status) == 0 && status.st_mode & 0o777 == 0o644)
      try await fill(redis, accepted: 13)
      #expect(
        try await Pushpool.run("metrics", "--output", file, "--redis", redis.url).status == 0)
      let second = try #require(TextFile.read(file, bytesMax: 1 << 20))
      #expect(second.contains("\n\(Self.accepted) 13\n"))
      let away = try await Pushpool.run(
        "metrics", "--output", file, "--redis", "unix://\(folder.file("nobody.sock"))")
      #expect(away.status == 69 && away.error.contains("cannot use Redis"), "\(away)")
      #expect(TextFile.read(file, bytesMax: 1 << 20) == second)
      #expect(FolderContent.names(folder.path) == ["pushpool.prom"], "nothing is left beside it")
    }
  }

  @Test("a file that cannot be written is a failure that names it")
  func unwritable() async throws {
    try await RedisServer.with { redis in
      let folder = try TemporaryFolder()
      defer { folder.close() }
      let missing = folder.file("missing/pushpool.prom")
      let result = try await Pushpool.run("metrics", "--output", missing, "--redis", redis.url)
      #expect(result.status == 74 && result.error.contains(missing), "\(result)")
      let taken = try await Pushpool.run("metrics", "--output", folder.path, "--redis", redis.url)
      #expect(taken.status == 74 && taken.error.contains(folder.path), "\(taken)")
      #expect(FolderContent.names(folder.path) == [])
    }
  }
}

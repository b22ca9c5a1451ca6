import Glibc
import LocalServices
import Model
import Testing

@testable import CommandLineInterface

/// The position that `pushpool import` keeps, and the files that it may write to.
@Suite struct ImportPositionTests {
  /// 1,200 lines of which the 1,101st is bad: an import of them leaves a position.
  private static func stoppedLines() -> [String] {
    var lines = (0..<1_200).map { ImportFile.line($0) }
    lines[1_100] = "not json"
    return lines
  }

  private static func text(_ path: String) -> String? { String(validatingUTF8File: path) }

  @Test(
    "a position of a file that was replaced is not taken up, and the new file is imported whole")
  func replaced() async throws {
    try await RedisServer.with { redis in
      let folder = try TemporaryFolder()
      let path = try ImportFile.write(Self.stoppedLines(), in: folder)
      #expect(try await Pushpool.run("import", path, "--redis", redis.url).status == 65)
      #expect(access(path + ".position", F_OK) == 0)
      let lines = (5_000..<7_000).map { ImportFile.line($0) }
      _ = try ImportFile.write(lines, in: folder)
      let refused = try await Pushpool.run("import", path, "--resume", "--redis", redis.url)
      #expect(refused.status == 65)
      #expect(refused.error.contains("in.ndjson.position"))
      #expect(refused.error.contains("without --resume"))
      let whole = try await Pushpool.run("import", path, "--json", "--redis", redis.url)
      #expect(try whole.json.first?["created"]?.int64Value == 2_000)
    }
  }

  @Test("a position of another file is not taken up")
  func another() async throws {
    try await RedisServer.with { redis in
      let folder = try TemporaryFolder()
      let first = try ImportFile.write(Self.stoppedLines(), in: folder)
      let second = try ImportFile.write(
        (3_000..<6_000).map { ImportFile.line($0) }, to: "second", in: folder)
      let position = folder.file("position")
      let stopped = try await Pushpool.run(
        "import", first, "--position", position, "--redis", redis.url)
      #expect(stopped.status == 65)
      let refused = try await Pushpool.run(
        "import", second, "--position", position, "--resume", "--redis", redis.url)
      #expect(refused.status == 65)
      #expect(refused.error.contains(position))
    }
  }

  @Test("an import from the start removes the position of an earlier one before it sends anything")
  func freshStart() async throws {
    try await RedisServer.with { redis in
      let folder = try TemporaryFolder()
      let path = try ImportFile.write(Self.stoppedLines(), in: folder)
      #expect(try await Pushpool.run("import", path, "--redis", redis.url).status == 65)
      // Its first line is bad now: what is kept is its own position, at the start.
      var lines = Self.stoppedLines()
      lines[0] = "not json"
      _ = try ImportFile.write(lines, in: folder)
      let stopped = try await Pushpool.run("import", path, "--redis", redis.url)
      #expect(stopped.error.contains("in.ndjson:1:"))
      let resumed = try await Pushpool.run("import", path, "--resume", "--redis", redis.url)
      #expect(resumed.error.contains("in.ndjson:1:"))
    }
  }

  @Test("a line is imported again after a resume, as often as it is still bad")
  func stillBad() async throws {
    try await RedisServer.with { redis in
      let folder = try TemporaryFolder()
      let path = try ImportFile.write(Self.stoppedLines(), in: folder)
      for _ in 1...3 {
        let stopped = try await Pushpool.run("import", path, "--resume", "--redis", redis.url)
        #expect(stopped.status == 65)
        #expect(stopped.error.contains("in.ndjson:1101:"))
      }
    }
  }

  @Test(
    "--position and --rejects never name the file that is imported, by whatever name",
    arguments: ["itself", "hard link", "symbolic link", "standard input", "descriptor"])
  func input(way: String) async throws {
    try await RedisServer.with { redis in
      let folder = try TemporaryFolder()
      let path = try ImportFile.write(["not json", ImportFile.line(1), ""], in: folder)
      let before = Self.text(path)
      var (file, other, input): (String, String, String?) = (path, folder.file("other"), nil)
      switch way {
      case "hard link": #expect(link(path, other) == 0)
      case "symbolic link": #expect(symlink(path, other) == 0)
      case "standard input": (file, other, input) = ("-", path, path)
      case "descriptor": (file, other, input) = (path, "/dev/fd/0", path)
      default: other = path
      }
      if file != "-" {
        let child = try Pushpool.start(
          ["import", file, "--skip-errors", "--position", other, "--redis", redis.url],
          input: input)
        let position = try await Pushpool.finish(child)
        #expect(position.status == 64, "\(position.error)")
        #expect(position.error.contains("--position"))
        #expect(Self.text(path) == before)
      }
      let child = try Pushpool.start(
        ["import", file, "--skip-errors", "--rejects", other, "--redis", redis.url], input: input)
      let rejects = try await Pushpool.finish(child)
      #expect(rejects.status == 64, "\(rejects.error)")
      #expect(rejects.error.contains("--rejects"))
      #expect(Self.text(path) == before)
    }
  }

  @Test("a file that is no position is not replaced by one, and neither is a device")
  func foreign() async throws {
    try await RedisServer.with { redis in
      let folder = try TemporaryFolder()
      let path = try ImportFile.write([ImportFile.line(1)], in: folder)
      let notes = folder.file("notes.txt")
      try PrivateFile.write("do not lose this\n", to: notes)
      for resume in [[], ["--resume"]] {
        let child = try Pushpool.start(
          ["import", path, "--position", notes, "--redis", redis.url] + resume)
        let result = try await Pushpool.finish(child)
        #expect(result.status == 65)
        #expect(result.error.contains("notes.txt is not a position that import wrote"))
        #expect(Self.text(notes) == "do not lose this\n")
      }
      let fifo = folder.file("fifo")
      #expect(mkfifo(fifo, 0o600) == 0)
      let device = try await Pushpool.run(
        "import", path, "--position", fifo, "--redis", redis.url)
      #expect(device.status == 65)
      #expect(device.error.contains("not a regular file"))
      let both = folder.file("both")
      let same = try await Pushpool.run(
        "import", path, "--skip-errors", "--position", both, "--rejects", both, "--redis",
        redis.url)
      #expect(same.status == 64)
    }
  }

  @Test("a file may begin with a byte order mark, have Windows' line ends, and lack the last one")
  func forms() async throws {
    try await RedisServer.with { redis in
      let folder = try TemporaryFolder()
      for (text, count) in [
        ("\u{FEFF}" + ImportFile.line(1) + "\n" + ImportFile.line(2) + "\n", 2),
        (ImportFile.line(3) + "\r\n" + ImportFile.line(4) + "\r\n", 2),
        (ImportFile.line(5) + "\n" + ImportFile.line(6), 2), ("", 0), ("\u{FEFF}", 0), ("\n\n", 0),
      ] {
        let path = folder.file("in.ndjson")
        try PrivateFile.write(text, to: path)
        let result = try await Pushpool.run("import", path, "--json", "--redis", redis.url)
        #expect(result.status == 0, "\(result.error)")
        #expect(try result.json.first?["created"]?.int64Value == Int64(count))
      }
    }
  }

  @Test("Ctrl-C and SIGTERM end an import that waits for its input", arguments: [SIGINT, SIGTERM])
  func interrupted(signal: CInt) async throws {
    try await RedisServer.with { redis in
      let folder = try TemporaryFolder()
      let fifo = folder.file("fifo")
      #expect(mkfifo(fifo, 0o600) == 0)
      let end = open(fifo, O_RDWR | O_CLOEXEC)
      defer { close(end) }
      let line = Array((ImportFile.line(1) + "\n").utf8)
      #expect(write(end, line, line.count) == line.count)
      let child = try Pushpool.start(["import", fifo, "--redis", redis.url])
      var unread: CInt = 1
      while unread > 0, child.exit == nil {
        guard ioctl(end, UInt(FIONREAD), &unread) == 0 else { break }
        await Task.yield()
      }
      child.signal(signal)
      let result = try await Pushpool.finish(child)
      #expect(result.status == 128 + signal)
      let devices = try await Pushpool.run(
        "devices", "--app", "shop", "--user", "u1", "--json", "--redis", redis.url)
      #expect(try devices.json.count == 1)
    }
  }

  @Test("an import whose --position cannot be written sends nothing")
  func unwritable() async throws {
    try await RedisServer.with { redis in
      let folder = try TemporaryFolder()
      let path = try ImportFile.write([ImportFile.line(1)], in: folder)
      let place = folder.file("missing/position")
      let refused = try await Pushpool.run(
        "import", path, "--position", place, "--redis", redis.url)
      #expect(refused.status == 74)
      #expect(refused.error == "pushpool: \(place) cannot be written: No such file or directory\n")
      let devices = try await Pushpool.run(
        "devices", "--app", "shop", "--user", "u1", "--json", "--redis", redis.url)
      #expect(try devices.json.isEmpty)
    }
  }

  @Test("refused lines that cannot be written down stop the import")
  func fullDisk() async throws {
    try await RedisServer.with { redis in
      let folder = try TemporaryFolder()
      let path = try ImportFile.write([ImportFile.line(1), "not json"], in: folder)
      let result = try await Pushpool.run(
        "import", path, "--skip-errors", "--rejects", "/dev/full", "--redis", redis.url)
      #expect(result.status == 74)
      #expect(result.error.contains("--rejects /dev/full cannot be written: No space left"))
      let resumed = try await Pushpool.run(
        "import", path, "--resume", "--skip-errors", "--redis", redis.url)
      #expect(resumed.error.contains("line 2: not valid JSON"))
    }
  }
}

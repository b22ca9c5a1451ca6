import Glibc
import LocalServices
import Testing

/// `pushpool top` as people run it.
@Suite struct TopTests {
  private static let leave = "\u{1B}[?25h\u{1B}[?1049l"

  /// Runs it on a terminal of 60 columns and 20 lines.
  private static func onTerminal(
    _ environment: [String: String] = [:],
    _ body: (PseudoTerminal, ChildProcess, RedisServer) async throws -> Void
  ) async throws {
    try await RedisServer.with { redis in
      let terminal = try PseudoTerminal()
      terminal.resize(columns: 60, rows: 20)
      let before = terminal.settings
      let shell = ["/bin/sh", "-c", #"exec "$0" "$@" <"\#(terminal.path)" >"\#(terminal.path)""#]
      let child = try Pushpool.start(
        ["top", "--redis", redis.url], behind: shell,
        environment: ["TERM": "xterm", "LANG": "C.UTF-8"].merging(environment) { $1 })
      let first = terminal.read(until: "q quit")
      #expect(first.contains("\u{1B}[?1049h\u{1B}[?25l") && first.contains("pushpool top"))
      #expect(terminal.settings != before, "keys come one by one")
      try await body(terminal, child, redis)
      #expect(terminal.settings == before, "the terminal is as it was")
    }
  }

  @Test("keys work, the terminal's size is kept to, and q gives the terminal back")
  func keys() async throws {
    try await Self.onTerminal { terminal, child, _ in
      // It is not ended by Ctrl-\, nor suspended by Ctrl-Z: a shell would have this screen.
      #expect(terminal.signalKeys == [0, 0])
      terminal.type("p")
      #expect(terminal.read(until: "PAUSED").contains("PAUSED"))
      terminal.type("ps\u{1B}[Bjk")
      let painted = terminal.read(until: "sort: by name")
      #expect(painted.contains("sort: by name"))
      let page = try #require(painted.split(separator: "\u{1B}[H").last)
      #expect(page.split(separator: "\n").count <= 20)
      terminal.type("q")
      #expect(terminal.read(until: Self.leave).hasSuffix(Self.leave))
      let result = try await Pushpool.finish(child)
      #expect(result.status == 0 && result.error == "", "\(result)")
    }
  }

  @Test(
    "a signal gives the terminal back and ends as shells report it",
    arguments: [SIGINT, SIGTERM, SIGHUP])
  func signals(signal: CInt) async throws {
    try await Self.onTerminal { terminal, child, _ in
      child.signal(signal)
      #expect(terminal.read(until: Self.leave).hasSuffix(Self.leave))
      let result = try await Pushpool.finish(child)
      #expect(
        result.status == 128 + signal && result.error == "pushpool: interrupted\n", "\(result)")
    }
  }

  @Test("colours are left out where NO_COLOR asks for that")
  func noColor() async throws {
    for (environment, hasColour) in [(["NO_COLOR": "1"], false), ([:], true)] {
      try await Self.onTerminal(environment) { terminal, child, _ in
        terminal.type("s")
        let page = terminal.read(until: "sort: by name")
        #expect(page.contains("\u{1B}[1m") == hasColour)
        terminal.type("q")
        _ = terminal.read(until: Self.leave)
        let result = try await Pushpool.finish(child)
        #expect(result.status == 0, "\(result)")
      }
    }
  }

  @Test("a Redis that goes away is told, and the last look stays on the screen")
  func outage() async throws {
    try await Self.onTerminal { terminal, child, redis in
      await redis.stop()
      #expect(terminal.read(until: "Redis at").contains("Redis at"))
      terminal.type("q")
      _ = terminal.read(until: Self.leave)
      let result = try await Pushpool.finish(child)
      #expect(result.status == 0, "\(result)")
    }
  }

  @Test("where there is no terminal it looks once and ends with 0")
  func once() async throws {
    try await RedisServer.with { redis in
      let result = try await Pushpool.run("top", "--redis", redis.url)
      #expect(result.status == 0 && result.error == "")
      #expect(result.output.hasPrefix("pushpool top  "))
      #expect(result.output.contains("\nnobody sends: no worker beats\n"))
      #expect(result.output.contains("\nJobs: 0 under way\n"))
      #expect(!result.output.contains("\u{1B}"))
    }
    #expect(try await Pushpool.run("top", "--interval", "0").status == 64)
    #expect(try await Pushpool.run("top", "--json").status == 64)
    #expect(try await Pushpool.run("top", "--redis", "unix:///none").status == 69)
  }
}

#if DEBUG
  internal import Glibc
  internal import Synchronization

  /// Ends the process at a named point, as a crash there would: in debug builds only, for tests.
  ///
  /// Every command to Redis has a point before it is written and one after its reply was read:
  /// `PUSHPOOL_CRASH_AT="after settle:3"` ends the process by SIGKILL after its third reply to `settle`, with
  /// nothing done about it. A function has its name without `pushpool_` and version, every other command its first
  /// word. Without a number it is the first time.
  enum CrashPoint {
    private static let armed: (name: String, times: Int)? = {
      guard let text = getenv("PUSHPOOL_CRASH_AT").map({ String(cString: $0) }) else { return nil }
      let parts = text.split(separator: ":", maxSplits: 1)
      return (String(parts.first ?? ""), parts.count > 1 ? Int(parts[1]) ?? 1 : 1)
    }()
    private static let passed = Mutex(0)

    static var isArmed: Bool { armed != nil }

    static func pass(_ name: String) {
      guard let armed, armed.name == name else { return }
      let times = passed.withLock { count in
        count += 1
        return count
      }
      if times == armed.times { kill(getpid(), SIGKILL) }
    }

    /// Returns the name that the points of a command have.
    static func name(of command: RedisCommand) -> String {
      // $<length>\r\n<word>\r\n…
      let lines = command.body.prefix(128).split(
        separator: UInt8(ascii: "\n"), maxSplits: 4, omittingEmptySubsequences: false)
      let words = stride(from: 1, to: lines.count, by: 2).map {
        String(decoding: lines[$0].dropLast(), as: UTF8.self)
      }
      guard words.count > 1, words[0] == "FCALL" else { return words.first ?? "" }
      return words[1].split(separator: "_").dropFirst().dropLast().joined(separator: "_")
    }
  }
#endif

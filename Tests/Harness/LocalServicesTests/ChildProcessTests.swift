import Glibc
import LocalServices
import Testing

@Suite struct ChildProcessTests {
  @Test("output, error and exit code of a program are seen")
  func outputAndExit() async throws {
    let child = try ChildProcess(
      "sh", ["-c", "echo one; echo two $GREETING; echo oops >&2; exit 3"],
      environment: ["GREETING": "hello"], output: .pipe, error: .pipe)
    #expect(await child.waitForExit(timeoutMs: patienceMs) == .code(3))
    #expect(await child.standardOutput?.nextLine(timeoutMs: patienceMs) == "one")
    #expect(await child.standardOutput?.nextLine(timeoutMs: patienceMs) == "two hello")
    #expect(await child.standardOutput?.nextLine(timeoutMs: patienceMs) == nil)
    #expect(await child.standardError?.rest(timeoutMs: patienceMs) == "oops\n")
  }

  @Test("a line is waited for while the program runs")
  func waitsForLine() async throws {
    let child = try ChildProcess(
      "sh", ["-c", "echo first; echo port 4711; exec cat /dev/zero >/dev/null"], output: .pipe)
    let output = try #require(child.standardOutput)
    #expect(await output.nextLine(containing: "port", timeoutMs: patienceMs) == "port 4711")
    #expect(await output.nextLine(timeoutMs: 10) == nil)
    #expect(child.exit == nil)
    #expect(await child.terminate() == .signal(SIGTERM))
  }

  @Test("a program that ignores SIGTERM is killed after its grace")
  func killedAfterGrace() async throws {
    let child = try ChildProcess(
      "sh", ["-c", "trap '' TERM; echo ready; while :; do read line </dev/zero; done"],
      output: .pipe, error: .discard)
    #expect(await child.standardOutput?.nextLine(timeoutMs: patienceMs) == "ready")
    #expect(await child.waitForExit(timeoutMs: 1) == nil)
    #expect(await child.terminate(graceMs: 20) == .signal(SIGKILL))
    #expect(!isAlive(child.pid))
    #expect(!child.signal(SIGTERM))
  }

  @Test("a released child is gone")
  func goneOnRelease() throws {
    var child: ChildProcess? = try ChildProcess("sleep", ["1000"])
    let pid = try #require(child?.pid)
    #expect(isAlive(pid))
    child = nil
    #expect(!isAlive(pid))
  }

  @Test("a missing program is named")
  func missingProgram() {
    let name = "no-such-program-here"
    #expect {
      try ChildProcess(name)
    } throws: {
      "\($0)" == "no-such-program-here is not installed, or not on PATH"
    }
    #expect {
      try ChildProcess("/\(name)")
    } throws: {
      "\($0)" == "cannot start /no-such-program-here: No such file or directory"
    }
  }

  @Test("unread output is bounded and loses the oldest first")
  func boundedOutput() async throws {
    let child = try ChildProcess(
      "sh", ["-c", "yes 0123456 | head -c 3000000; echo; echo last"], output: .pipe)
    let text = try #require(await child.standardOutput?.rest(timeoutMs: patienceMs))
    #expect(text.utf8.count == ChildOutput.unreadBytesMax)
    #expect(text.hasSuffix("\nlast\n"))
  }

  @Test("a child has none of the owner's descriptors")
  func noDescriptors() async throws {
    let leaking = dup(0)
    defer { close(leaking) }
    let child = try ChildProcess("ls", ["/proc/self/fd"], output: .pipe)
    // 3 is the folder that ls itself reads.
    #expect(await child.standardOutput?.rest(timeoutMs: patienceMs) == "0\n1\n2\n3\n")
  }

  @Test("a child starts in a group of its own, with no signal blocked or ignored")
  func cleanSignals() async throws {
    let child = try ChildProcess(
      "sh", ["-c", "cat /proc/self/status; exec sleep 1000"], output: .pipe)
    #expect(getpgid(child.pid) == child.pid)
    let output = try #require(child.standardOutput)
    for name in ["SigBlk", "SigIgn"] {
      let line = try #require(await output.nextLine(containing: name, timeoutMs: patienceMs))
      let mask = try #require(UInt64(line.suffix(16), radix: 16))
      // Signals 32 and 33 are glibc's own, out of reach of signal(2).
      #expect(mask & ~0x1_8000_0000 == 0, "\(line)")
    }
  }
}

/// How long a program that was started may take to say something or end, on a busy machine too.
let patienceMs: UInt64 = 60_000

/// Whether a process of that number exists, a zombie included.
func isAlive(_ pid: CInt) -> Bool {
  kill(pid, 0) == 0
}

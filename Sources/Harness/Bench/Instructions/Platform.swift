import Glibc
import LocalServices

/// The circumstances that decide an instruction count beside this package's code: the processor's architecture, the
/// system with its libraries, and the compiler. Figures of different ones cannot be compared.
enum Platform {
  /// `x86_64, debian 12, Swift 6.3.1`
  static func description() async throws -> String {
    var names = utsname()
    uname(&names)
    let machine = withUnsafeBytes(of: names.machine) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    let release = TextFile.read("/etc/os-release", bytesMax: BenchLimits.textBytesMax) ?? ""
    let id = value("ID", in: release) ?? "unknown"
    let version = value("VERSION_ID", in: release) ?? ""
    return "\(machine), \(id) \(version), Swift \(try await swiftVersion())"
  }

  /// `ID="debian"` or `ID=debian`
  private static func value(_ name: String, in release: String) -> String? {
    for line in release.split(separator: "\n") where line.hasPrefix(name + "=") {
      return line.dropFirst(name.count + 1).filter { $0 != "\"" }
    }
    return nil
  }

  private static func swiftVersion() async throws -> String {
    // The compiler's driver leaves an empty folder behind: in this one, which goes.
    let folder = try TemporaryFolder()
    defer { folder.close() }
    var environment = ["TMPDIR": folder.path]
    for name in ["PATH", "HOME"] { environment[name] = getenv(name).map { String(cString: $0) } }
    let swift = try ChildProcess(
      "swift", ["--version"], environment: environment, output: .pipe, error: .discard)
    _ = await swift.waitForExit(timeoutMs: BenchLimits.startMsMax)
    let text = await swift.standardOutput?.rest(timeoutMs: BenchLimits.stopMsMax) ?? ""
    let words = text.split(whereSeparator: { $0 == " " || $0.isNewline })
    guard let index = words.firstIndex(of: "version"), index + 1 < words.count else {
      throw BenchError("swift --version does not say which it is")
    }
    return String(words[index + 1])
  }
}

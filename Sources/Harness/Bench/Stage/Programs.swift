import LocalServices

/// The programs that take part.
struct Programs {
  let pushpool: String
  let simulator: String
  let h2load: String

  init() throws {
    pushpool = try BuiltProgram.path(of: "pushpool", builtBy: "bench")
    simulator = try BuiltProgram.path(of: "pushpool-simulator", builtBy: "bench")
    do {
      h2load = try ChildProcess.find("h2load")
    } catch {
      throw BenchError("\(error); install the package nghttp2-client, or run `make deps`")
    }
  }
}

internal import ArgumentParser
internal import Glibc
internal import ProgramSetup

struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Serve the HTTP API, the dashboard and metrics until it is told to stop.",
    discussion: """
        pushpool serve
        pushpool serve --config pushpool.yaml --metrics 127.0.0.1:9464
        pushpool serve --listen 0.0.0.0:8080 --redis redis://redis.internal

      The dashboard is at http://127.0.0.1:8080/ then, and the API below /v1. The first key for both is made \
      by pushpool keys create. Phones show a token that the app's own backend has signed: serve.user_tokens \
      in docs/reference/configuration.md.

      The server needs no app in its configuration, and no key of a push network. All that it shows and \
      changes is in Redis. So start as many as you like, on any machine. Without Redis it answers with 503, \
      and works again by itself when Redis is back.

      It speaks plain HTTP. Put a proxy with TLS in front of it before anybody else can reach it, and name \
      the proxy in serve.trusted_proxies.

      /healthz says that the process answers, /readyz that Redis does, and /openapi.json describes the API. \
      /metrics has a listener of its own, so that it can stay inside your network.

      SIGTERM, SIGHUP or Ctrl-C ends it within 10 s: it takes no more requests and finishes those in hand. A \
      second signal does not wait for them.

      The server is the program pushpool-server, which must lie beside this one. It logs to standard error, \
      as a worker does; --json changes nothing.
      """)

  @OptionGroup var serving: ServingOptions
  @OptionGroup var shared: SharedOptions

  func run() async throws {
    let program = try Self.program()
    let place = shared.place
    let options = (serving.overrides + place.overrides).map { ($0.option, $0.value) }
    let arguments = (options + [("--config", place.config)]).flatMap { name, value in
      value.map { [name, $0] } ?? []
    }
    throw Self.become(program, arguments)
  }

  /// The server, beside this program.
  private static func program() throws(CommandFailure) -> String {
    var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &bytes, bytes.count)
    guard count > 0 else {
      throw CommandFailure(.internalError, "cannot read /proc/self/exe")
    }
    let own = String(decoding: bytes[..<count], as: UTF8.self)
    let folder = own.prefix(upTo: own.lastIndex(of: "/") ?? own.startIndex)
    let program = "\(folder)/pushpool-server"
    guard access(program, X_OK) == 0 else {
      throw CommandFailure(
        .unavailable,
        "\(program) is missing, and it is the server: run `swift build -c release --product pushpool-server`, "
          + "or `make build`, which does, and lay it beside pushpool")
    }
    return program
  }

  /// Becomes the program: whoever waits for this process, or signals it, waits for the server and signals that.
  /// - Returns: why it could not.
  private static func become(_ program: String, _ arguments: [String]) -> CommandFailure {
    var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) }
    words.append(nil)
    execv(program, words)
    let reason = String(cString: strerror(errno))
    for word in words { free(word) }
    return CommandFailure(.internalError, "cannot start \(program): \(reason)")
  }
}

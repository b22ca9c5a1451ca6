internal import ArgumentParser
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
    let place = shared.place
    let options = (serving.overrides + place.overrides).map { ($0.option, $0.value) }
    let arguments = (options + [("--config", place.config)]).flatMap { name, value in
      value.map { [name, $0] } ?? []
    }
    throw CompanionProgram.server.become(arguments)
  }
}

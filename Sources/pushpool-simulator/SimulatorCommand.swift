import ArgumentParser

@main
struct SimulatorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pushpool-simulator",
    abstract: "A stand-in for APNs, FCM and Google's OAuth endpoint that checks and misbehaves.",
    discussion: """
      One TLS HTTP/2 port plays all three, told apart by path:
        POST /3/device/<token>                     APNs
        POST /v1/projects/<project>/messages:send  FCM HTTP v1
        POST /token                                OAuth

      Start with keys of its own and watch what it accepts:
        pushpool-simulator --generate sim --accept-log accepted.log
      then point workers at it; sim/pushpool.yaml is a configuration that does.

      Misbehave: write a script, name it with --script, send SIGHUP after changing it.
        {"rules": [{"token_prefix": "dead", "status": 410, "reason": "Unregistered"},
                   {"token_prefix": "51", "action": "stall"}],
         "all": {"status": 503, "retry_after_seconds": 30, "probability": 0.1},
         "delay_ms": 20, "goaway_after": 5000}
      All fields of a script: rules, all, oauth (each with token_prefix,
      network, action answer|stall|reset|drop, status, reason, timestamp_ms, retry_after_seconds,
      body, field_violation, reset_code, delay_ms, times, probability), delay_ms, stall_after,
      stop_reading_after, goaway_after, goaway_processes_last, goaway_reason, max_concurrent_streams
      [{after, value}], reset_after {n, code, times}, early_answer, drop_connection_after,
      close_without_answer_after, drop_connection_after_bad_requests,
      provider_token_interval_seconds, bearer_lifetime_seconds, development_token_prefix, seed.
      """,
    subcommands: [ServeCommand.self, KeysCommand.self],
    defaultSubcommand: ServeCommand.self)
}

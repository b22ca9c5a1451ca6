import ArgumentParser
import LocalServices
import Model
import Simulator

@main
struct SimulatorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pushpool-simulator",
    abstract: "A stand-in for \(played) that checks and misbehaves.",
    discussion: """
      One TLS HTTP/2 port plays all of them, told apart by path:
        \(Simulator.paths.joined(separator: "\n  "))

      Start with keys of its own and watch what it accepts:
        pushpool-simulator --generate sim --print-requests
      then point workers at it; sim/pushpool.yaml is a configuration that does.

      Misbehave: write a script, name it with --script, send SIGHUP after changing it.
        {"rules": [{"token_prefix": "dead", "status": 410, "reason": "Unregistered"},
                   {"token_prefix": "51", "action": "stall"}],
         "all": {"status": 503, "retry_after_seconds": 30, "probability": 0.1},
         "delay_ms": 20, "goaway_after": 5000}
      docs/reference/simulator.md says more of each field, with units, defaults and examples.
      The first of the rules that matches a push decides, else "all"; "oauth" is for POST /token.
      Fields of a rule:
        token_prefix                          which pushes; all without
        network                               \(Network.alternatives)
        action                                answer (default), stall, reset, drop, goaway
        status, reason, body                  the answer; an ordinary one without status. JPush's
                                              reason is its code; 1011 takes one target away, and
                                              is the answer when none is left
        retry_after_seconds, timestamp_ms     its Retry-After (JPush: X-Rate-Limit-Reset), and a
                                              410's timestamp
        content_type                          of the answer; JSON's without, if it has a body
        field_violation                       FCM: a BadRequest detail that blames this field
        delay_ms, reset_code
        times, probability                    how often it applies
        burst                                 with probability: so many in a row, the same share
      Fields of a script, counted in requests per connection:
        delay_ms                              before each answer
        stall_after, stop_reading_after       no more answers; no more reading
        goaway_after, goaway_processes_last (true), goaway_reason
        max_concurrent_streams                [{"after": 100, "value": 1}, ...]
        reset_after                           {"n": 10, "code": 7, "times": 1}
        early_answer                          before the body, then RST_STREAM(NO_ERROR)
        drop_connection_after                 TCP cut, that request unprocessed
        close_without_answer_after            that request accepted, then TCP cut
        drop_connection_after_bad_requests    after so many answers with status 400
        \(NetworkScripts.help.joined(separator: "\n  "))
        seed                                  of the dice behind probability
      """,
    subcommands: [ServeCommand.self, KeysCommand.self],
    defaultSubcommand: ServeCommand.self)

  private static var played: String {
    (Network.allCases.map(\.traits.displayName) + ["Google's OAuth endpoint"])
      .list(before: "and")
  }
}

/// The exit codes of sysexits(3) that the command uses; 64 is the argument parser's own.
enum ExitStatus {
  static let badInput = ExitCode(65)
  static let unavailable = ExitCode(69)
  static let configuration = ExitCode(78)

  static func of(_ error: SimulatorError) -> ExitCode {
    switch error.kind {
    case .configuration: configuration
    case .script: badInput
    case .unavailable: unavailable
    }
  }
}

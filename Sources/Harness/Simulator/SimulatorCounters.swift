internal import Model

/// What the simulator saw and did since it started.
package struct SimulatorCounters: Sendable, Equatable {
  package internal(set) var connectionsOpened = 0
  package internal(set) var connectionsOpen = 0
  package internal(set) var requests = 0
  /// Pushes accepted, which is what the accept log holds.
  package internal(set) var accepted = 0
  /// FCM requests with `validate_only` that would have been accepted.
  package internal(set) var dryRuns = 0
  /// 200 answers, counted apart from the rest because they are nearly all.
  private var okAnswers = 0
  private var otherAnswers: [Int: Int] = [:]
  package internal(set) var bearerTokensIssued = 0
  package internal(set) var providerTokenVerifications = 0
  /// Streams refused because a client opened more than it may have known to be allowed.
  package internal(set) var refusedStreams = 0
  /// Streams above a limit that the client had acknowledged: a fault of the client.
  package internal(set) var violations = 0
  package internal(set) var openStreamsMax = 0
  /// Requests left without an answer on purpose.
  package internal(set) var stalled = 0
  package internal(set) var resets = 0
  package internal(set) var goAways = 0
  /// Connections cut on purpose.
  package internal(set) var drops = 0
  package internal(set) var earlyAnswers = 0
  /// Pushes refused with 500 because the accept log could not be written.
  package internal(set) var logFailures = 0

  package init() {}

  /// HTTP status → answers.
  package var answers: [Int: Int] {
    var answers = otherAnswers
    if okAnswers > 0 { answers[200] = okAnswers }
    return answers
  }

  mutating func countRequest(openStreams: Int) {
    requests += 1
    if openStreams > openStreamsMax { openStreamsMax = openStreams }
  }

  mutating func countAnswer(status: Int) {
    if status == 200 { okAnswers += 1 } else { otherAnswers[status, default: 0] += 1 }
  }

  /// One line of JSON.
  package var json: String {
    var object: JSONObject = [:]
    let numbers = [
      ("connections_opened", connectionsOpened), ("connections_open", connectionsOpen),
      ("requests", requests), ("accepted", accepted), ("dry_runs", dryRuns),
      ("bearer_tokens_issued", bearerTokensIssued),
      ("provider_token_verifications", providerTokenVerifications),
      ("refused_streams", refusedStreams), ("violations", violations),
      ("open_streams_max", openStreamsMax), ("stalled", stalled), ("resets", resets),
      ("goaways", goAways), ("drops", drops), ("early_answers", earlyAnswers),
      ("log_failures", logFailures),
    ]
    for (name, value) in numbers { object[name] = .integer(value) }
    var statuses: JSONObject = [:]
    for (status, count) in answers.sorted(by: { $0.key < $1.key }) {
      statuses[String(status)] = .integer(count)
    }
    object["answers"] = .object(statuses)
    return JSONValue.object(object).text()
  }
}

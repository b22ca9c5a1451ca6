internal import Model

/// The counts of what the simulator saw and did since it started, as its process prints them.
package struct SimulatorCounters: Sendable, Equatable {
  package var connectionsOpened = 0
  package var connectionsOpen = 0
  package var requests = 0
  /// Pushes accepted, which is what the accept log holds.
  package var accepted = 0
  /// Pushes to FCM with `validate_only` and to JPush for validation that would have been accepted.
  package var dryRuns = 0
  /// Requests to JPush with the cid of an accepted one, and the pushes in them: nothing of them was delivered again.
  package var repeatedRequests = 0
  package var repeatedPushes = 0
  /// 200 answers, counted apart from the rest because they are nearly all.
  private var okAnswers = 0
  private var otherAnswers: [Int: Int] = [:]
  package var bearerTokensIssued = 0
  package var providerTokenVerifications = 0
  /// Streams refused because a client opened more than it may have known to be allowed.
  package var refusedStreams = 0
  /// Streams above a limit that the client had acknowledged: a fault of the client.
  package var violations = 0
  package var openStreamsMax = 0
  /// Requests left without an answer on purpose.
  package var stalled = 0
  package var resets = 0
  package var goAways = 0
  /// Connections cut on purpose.
  package var drops = 0
  package var earlyAnswers = 0
  /// Pushes refused with 500 because the accept log could not be written.
  package var logFailures = 0
  /// Scripts that were not followed.
  package var refusedScripts = 0

  package init() {}

  /// HTTP status → answers.
  package var answers: [Int: Int] {
    var answers = otherAnswers
    if okAnswers > 0 { answers[200] = okAnswers }
    return answers
  }

  package mutating func countRequest(openStreams: Int) {
    requests += 1
    if openStreams > openStreamsMax { openStreamsMax = openStreams }
  }

  package mutating func countAnswer(status: Int) {
    if status == 200 { okAnswers += 1 } else { otherAnswers[status, default: 0] += 1 }
  }

  /// The members of the JSON, in its order; beside them it has the answers.
  private static var members: [(String, WritableKeyPath<SimulatorCounters, Int>)] {
    [
      ("connections_opened", \.connectionsOpened), ("connections_open", \.connectionsOpen),
      ("requests", \.requests), ("accepted", \.accepted), ("dry_runs", \.dryRuns),
      ("repeated_requests", \.repeatedRequests), ("repeated_pushes", \.repeatedPushes),
      ("bearer_tokens_issued", \.bearerTokensIssued),
      ("provider_token_verifications", \.providerTokenVerifications),
      ("refused_streams", \.refusedStreams), ("violations", \.violations),
      ("open_streams_max", \.openStreamsMax), ("stalled", \.stalled), ("resets", \.resets),
      ("goaways", \.goAways), ("drops", \.drops), ("early_answers", \.earlyAnswers),
      ("log_failures", \.logFailures), ("refused_scripts", \.refusedScripts),
    ]
  }

  /// One line of JSON.
  package var json: String {
    var object: JSONObject = [:]
    for (name, path) in Self.members { object[name] = .integer(self[keyPath: path]) }
    var statuses: JSONObject = [:]
    for (status, count) in answers.sorted(by: { $0.key < $1.key }) {
      statuses[String(status)] = .integer(count)
    }
    object["answers"] = .object(statuses)
    return JSONValue.object(object).text()
  }

  /// Reads what ``json`` says; nil when it is nothing of the kind.
  package init?(json: String) {
    guard let object = try? JSONParser().parse(json).objectValue,
      let statuses = object["answers"]?.objectValue
    else { return nil }
    for (name, path) in Self.members {
      guard let count = object[name]?.int64Value else { return nil }
      self[keyPath: path] = Int(count)
    }
    for member in statuses.members {
      guard let status = Int(member.name), let count = member.value.int64Value else { return nil }
      if status == 200 { okAnswers = Int(count) } else { otherAnswers[status] = Int(count) }
    }
  }
}

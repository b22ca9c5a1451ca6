/// Why something was decided that no answer of a network explains.
package enum TraceCause: String, Sendable, CaseIterable {
  case noCredentials = "no_credentials"
  case otherWorker = "other_worker"
  case cancelled
  case takenOver = "taken_over"
  case paused
  case expired
  case expiresFirst = "expires_first"
  case nowOrNever = "now_or_never"
  case rebound
  case otherEnvironment = "other_environment"
  case notInstalled = "not_installed"
  case notBound = "not_bound"
  case noInstallation = "no_installation"
  case filtered
  case missedTime = "missed_time"
  case noTimeZone = "no_time_zone"
  case malformed
  case malformedRequest = "malformed_request"
  case contentRefused = "content_refused"
  case triedApart = "tried_apart"
  case unrenderable
  case missingVariable = "missing_variable"
  case unreadableVariables = "unreadable_variables"
  case noVariablesHash = "no_variables_hash"
  case payloadTooLarge = "payload_too_large"
  case notForNetwork = "not_for_network"
  case noDryRun = "no_dry_run"
  case dryRun = "dry_run"
  case parked
  case switchedOff = "switched_off"
  case rateLimited = "rate_limited"
  case attemptsUsedUp = "attempts_used_up"
  case resendsUsedUp = "resends_used_up"
  case givesUpUnknown = "gives_up_unknown"
  /// Recorded by older workers only: their traces hold it.
  case tooManyDoubtful = "too_many_doubtful"
  case massDeath = "mass_death"
  /// Too many events were alike to be recorded.
  case tooMany = "too_many"
  /// Redis did not take the event in time to be recorded.
  case notTaken = "not_taken"

  /// For a person, to stand behind a colon.
  package var explanation: String {
    switch self {
    case .noCredentials:
      "the workers have no credentials of this app for its network and environment"
    case .otherWorker:
      "the worker that had it has no credentials there, so it waits for one that has"
    case .cancelled: "the job was cancelled"
    case .takenOver: "its chunk was taken over by another worker"
    case .paused: "the job was paused, or its worker ended"
    case .expired: "the job had expired before it was sent"
    case .expiresFirst: "the job expires before the next attempt"
    case .nowOrNever: "the job's ttl is 0, so there is one attempt only"
    case .rebound: "the token was uninstalled or belongs to another user by now"
    case .otherEnvironment: "the token was installed anew for the other environment"
    case .notInstalled: "the token is not registered: no installation of the app has it"
    case .notBound:
      "the token was bound to another user, in an environment that the job leaves out, or is for another kind "
        + "of push"
    case .noInstallation:
      "the user had no installation in the job's environments and for its kind of push"
    case .filtered: "the job's filter leaves the installation out"
    case .missedTime:
      "the job's time had passed in the installation's time zone when it was enqueued, and its late is skip"
    case .noTimeZone:
      "the installation has no time zone, or one that is not known, and the job sends nothing to such"
    case .malformed: "its line in the chunk could not be read"
    case .malformedRequest:
      "the network called its request malformed (PROTOCOL_ERROR) and answers others"
    case .contentRefused:
      "the network has refused the job's content for its other devices alike"
    case .triedApart:
      "requests of its job are tried one at a time, since the network called one malformed"
    case .unrenderable: "the job breaks a rule of this network; the workers' log says which"
    case .missingVariable:
      "the job's variables have no value for one of its placeholders, which has no default"
    case .unreadableVariables:
      "what variables_key holds of the user is no JSON object of strings, numbers and booleans, or too long"
    case .noVariablesHash:
      "the key that variables_key names is no HASH, or the workers may not read it"
    case .payloadTooLarge: "its texts, filled in, make it longer than its network allows"
    case .notForNetwork: "the job has nothing that can be sent to this network"
    case .noDryRun: "its network has no dry run"
    case .dryRun: "a dry run uninstalls nothing"
    case .parked: "its network could not be reached, did not answer or refused the credential"
    case .switchedOff: "an operator has switched it off"
    case .rateLimited: "the app's or project's rate did not allow more just then"
    case .attemptsUsedUp: "all attempts were used up"
    case .resendsUsedUp: "the network returned it unprocessed too often"
    case .givesUpUnknown: "the job's on_unknown is give_up"
    case .tooManyDoubtful:
      "too many tokens were refused alike, so the configuration is suspected and none is removed"
    case .massDeath: "so many tokens die at a time that a mistake is suspected, and none is removed"
    case .tooMany: "more of them than a worker records"
    case .notTaken: "Redis was away or slow"
    }
  }
}

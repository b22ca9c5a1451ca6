internal import Model
internal import Store

/// A job that a worker does not take in.
enum TurnedAway {
  case refused(JobEntry, Refusal)
  /// The app of the job lives in another shard.
  case elsewhere(JobElsewhere)
  /// Another worker may have its app.
  case unknownApp(JobOfUnknownApp)
}

extension Refusal {
  static func invalid(_ field: InvalidField, app: String, id: String) -> Refusal {
    Refusal(
      reason: "invalid_job", field: field.pointer, message: field.message, app: app, id: id)
  }

  static func unknownApp(_ job: JobOfUnknownApp) -> Refusal {
    let hint = job.suggestion.map { "; did you mean \"\($0)\"?" } ?? ""
    return Refusal(
      reason: "unknown_app", field: "/app",
      message:
        "no worker has the app \"\(job.app)\" in its configuration\(hint); add it under apps and retry this, "
        + "or correct the name", app: job.app, id: job.id)
  }
}

internal import Model
internal import Operations
internal import ProgramSetup
internal import PushpoolConfiguration
internal import Typesetting

// What --dry-run does in place of adding a job.
extension EnqueueCommand {
  /// Shows what the job would send.
  func show(
    _ job: Job, _ configuration: Configuration, _ console: Console
  ) async throws(CommandFailure) {
    try checkApp(of: job, configuration)
    let subject = try PreviewSubject(preview)
    let (targets, values) = try await subject.receivers(of: job, configuration)
    let found: JobPreview
    do throws(ConfigurationError) {
      found = try JobPreview(
        of: job, to: targets, filledWith: values, with: configuration, nowMs: InstantText.nowMs())
    } catch {
      throw CommandFailure(.configuration, error.description)
    }
    JobPreviewReport(job: job, preview: found).show(asJSON: shared.json, on: console)
    if let refusal = found.refusal { throw refused(refusal) }
    guard !targets.isEmpty else {
      throw CommandFailure(.unsent, subject.absence(app: job.app))
    }
    guard found.unserved == 0 else {
      throw CommandFailure(
        .unsent, "\(found.unserved) of \(targets.count) devices would get nothing")
    }
  }

  /// A job of an app that no worker has is refused; whether another one's configuration has it, nobody knows here.
  private func checkApp(
    of job: Job, _ configuration: Configuration
  ) throws(CommandFailure) {
    guard configuration.app(job.app) == nil else { return }
    let known = configuration.apps.map(\.id)
    guard !known.isEmpty else {
      throw CommandFailure(
        .configuration,
        "requests are rendered with the settings of the app, and there is none: name the workers' "
          + "configuration with --config FILE")
    }
    let hint =
      NearestName.suggestion(for: job.app, among: known).map { "did you mean \"\($0)\"?" }
      ?? "it has \(known.joined(separator: ", "))"
    throw refused(
      InvalidField(
        pointer: "/app", message: "the configuration has no app \"\(job.app)\"; \(hint)"))
  }
}

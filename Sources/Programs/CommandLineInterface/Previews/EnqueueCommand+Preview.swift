internal import Model
internal import Operations
internal import ProgramSetup
internal import PushpoolConfiguration
internal import Redis
internal import Store
internal import Typesetting

// What --dry-run does in place of adding a job.
extension EnqueueCommand {
  /// Shows what the job would send.
  func show(
    _ job: Job, _ configuration: Configuration, _ console: Console
  ) async throws(CommandFailure) {
    let app = try await previewedApp(of: job, configuration)
    let subject = try PreviewSubject(preview)
    let (targets, values) = try await subject.receivers(of: job, configuration)
    let found = JobPreview(
      of: job, to: targets, filledWith: values, with: app, nowMs: InstantText.nowMs())
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

  /// The job's app: of the configuration, or of Redis where the configuration says how to open it.
  private func previewedApp(
    of job: Job, _ configuration: Configuration
  ) async throws(CommandFailure) -> PreviewedApp {
    if configuration.app(job.app) == nil, configuration.appsInRedis != nil {
      if let app = try await redisApp(job.app, configuration) { return app }
      throw refused(
        InvalidField(
          pointer: "/app",
          message: "neither the configuration nor Redis has an app \"\(job.app)\""))
    }
    try checkApp(of: job, configuration)
    do throws(ConfigurationError) { return try PreviewedApp(job.app, of: configuration) } catch {
      throw CommandFailure(.configuration, error.description)
    }
  }

  /// Nil when Redis has no such app.
  private func redisApp(
    _ id: String, _ configuration: Configuration
  ) async throws(CommandFailure) -> PreviewedApp? {
    let keys = try configuration.sealingKeys()
    let session = try await RedisSession.open(
      configuration, as: .operator, onlyReads: true)
    let found = try await session.atHome { fleet throws(RedisError) in
      try await AppOffice(fleet: fleet).find(id)
    }
    await session.close()
    guard let found else { return nil }
    let fault: String
    do throws(AppRecordFault) {
      let record = try found.record.get()
      do throws(InvalidField) { return try PreviewedApp(record, keys: keys) } catch {
        fault = error.description
      }
    } catch { fault = error.description }
    throw CommandFailure(
      .configuration,
      "\(id) stands in Redis and cannot be used, so that workers leave it out: \(DisplayText.printable(fault))"
    )
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

internal import ArgumentParser
internal import Configuration
internal import Glibc
internal import Model
internal import Operations
internal import Redis

struct EnqueueCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "enqueue",
    abstract: "Add a job to the queue.",
    discussion: """
      A job is JSON: who receives what. A small one:

        {"app": "shop", "audience": {"users": ["u1", "u2"]},
         "notification": {"title": "Sale", "body": "Everything must go."}}

      Millions of users go into a Redis SET, ZSET or LIST first, which the job names:

        {"app": "shop", "audience": {"users_key": "segment:vip"},
         "notification": {"title": "Sale"}}

      An event tells apps of a change without showing anything:

        {"app": "shop", "audience": {"users": ["u1"]}, "kind": "push_to_app",
         "event": {"bucket_id": "orders", "bucket_type": "rw",
                   "type": "DATA_OBJECT_UPDATED", "object_id": "4711",
                   "object_scope_app_id": "shop", "object_scope_type": "APP"}}

      The command checks the job first. An error names the place of the fault, such as \
      /notification/badge. With an "id", enqueueing the same job again does nothing.

        pushpool enqueue job.json --wait
        make-job | pushpool enqueue --priority high

      With --dry-run nothing is enqueued: it prints the request that each device would get, as \
      the workers would send it, or why a device gets none.

        pushpool enqueue job.json --dry-run --user u1
        pushpool enqueue job.json --dry-run --network apns   # without Redis

      "dry_run": true in a job is another thing. Such a job is enqueued, and FCM and JPush are \
      asked to check its pushes without delivering them.

      With --wait it ends with 1 when the job was cancelled or some of its pushes failed, were \
      rejected or expired, else with 0: also when pushes were skipped, or nobody had a device.

      Programs need none of this: XADD pushpool:jobs:normal * job '<JSON>'
      """)

  @Argument(help: "The job's file; - or nothing for standard input.")
  var file: String = "-"

  @Option(help: "high, normal or low: the higher is sent first.")
  var priority: Priority = .normal

  @Flag(help: "Show progress until the job has ended, then what became of it.")
  var wait = false

  @Flag(help: "Do not check the job here; the workers will.")
  var noCheck = false

  @OptionGroup var preview: PreviewOptions
  @OptionGroup var shared: SharedOptions

  func validate() throws {
    guard preview.dryRun else { return }
    guard !wait else {
      throw ValidationError(
        "--dry-run enqueues nothing that could be waited for: leave out --wait.")
    }
    guard !noCheck else {
      throw ValidationError("--dry-run checks the job as the workers do: leave out --no-check.")
    }
  }

  func run() async throws {
    let console = Console.standard
    let configuration = try shared.configuration()
    let text = try InputFile.read(file, bytesMax: Limits.jobBytesMax)
    let submission = try read(text)
    if preview.dryRun {
      guard let job = submission.job else {
        throw CommandFailure(.internalError, "a preview of a job that was not checked")
      }
      return try await show(job, configuration, console)
    }
    // Before the job is added: from then on a Ctrl-C must not look as if it had not been.
    if wait { Interrupts.shared.expect() }
    let session = try await RedisSession.open(configuration.redis, functions: wait)
    let priority = priority
    let job = try await session.run { store throws(RedisError) in
      try await submission.enqueue(in: store, priority: priority)
    }
    guard wait else { return announce(job, console) }
    if submission.app == nil {
      throw CommandFailure(
        .badInput, "the job was added, but names no app: what becomes of it is unknown")
    }
    console.note("job \(job.id) of \(job.app) is enqueued")
    let record = try await JobFollower(
      job: job, session: session, console: console, label: "waiting for a worker", total: nil
    ).follow()
    JobReport(record: record).show(asJSON: shared.json, on: console)
    await session.close()
    if let shortfall = JobReport(record: record).shortfall {
      throw CommandFailure(.unsent, shortfall)
    }
  }

  /// The job of a text that keeps the rules, or with `--no-check` of any; says so when it could be meant otherwise.
  private func read(_ text: [UInt8]) throws(CommandFailure) -> JobSubmission {
    guard !noCheck else { return JobSubmission(unchecked: text) }
    let submission: JobSubmission
    do throws(InvalidField) { submission = try JobSubmission(checking: text) } catch {
      throw refused(error)
    }
    if let placeholder = submission.job?.content.unfilledPlaceholder {
      Console.standard.note(
        "the text has {{\(placeholder.name)}}, and the job has neither variables nor variables_key: receivers will "
          + "read it as it stands")
    }
    return submission
  }

  /// What a job that breaks a rule is refused with.
  func refused(_ field: InvalidField) -> CommandFailure {
    let name = file == "-" ? "the job" : file
    return CommandFailure(.badInput, "\(name): \(field)")
  }

  private func announce(_ job: EnqueuedJob, _ console: Console) {
    guard shared.json else { return console.print(job.id) }
    console.print(
      json: .object([
        "app": .string(job.app), "id": .string(job.id),
        "priority": .string(job.priority.rawValue), "entry": .string(job.entry),
      ]))
  }
}

internal import ArgumentParser
internal import Glibc
internal import Model
internal import Operations
internal import ProgramSetup
internal import PushpoolConfiguration
internal import Redis
internal import Store

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
      /notification/badge. It also asks Redis whether the id has other content, and whether users_key and \
      variables_key exist. The rest is judged by the worker that takes the job: pushpool job ID tells. \
      With an "id", enqueueing the same job again does nothing.

        pushpool enqueue job.json --wait
        make-job | pushpool enqueue --priority high

      With --dry-run nothing is enqueued: it prints the request that each device would get, as \
      the workers would send it, or why a device gets none.

        pushpool enqueue job.json --dry-run --user u1
        pushpool enqueue job.json --dry-run --network apns   # without Redis

      "dry_run": true in a job is another thing. Such a job is enqueued, and \(Network.namesOfCheckers) are \
      asked to check its pushes without delivering them.

      With --wait it ends with 1 when the job was cancelled, when some of its pushes failed, were \
      rejected or expired, or when all were skipped. It ends with 65 when the job was refused, else \
      with 0: also when some pushes were skipped, or nobody had a device.

      Programs need none of this: XADD pushpool:jobs:normal * job '<JSON>', or FCALL pushpool_submit 2 \
      pushpool pushpool:guard normal '<JSON>', which also tells at once whether the id is taken.
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
    let console = Console.standard.with(.isIgnored)
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
    let session = try await RedisSession.open(configuration, as: wait ? .operator : .producer)
    await session.warnOfRisks(in: submission.scope, on: .standard)
    let (job, isRepeated, isAdded) = try await add(submission, session)
    guard wait else {
      await session.close()
      return announce(job, isRepeated: isRepeated, console)
    }
    if submission.app == nil {
      throw CommandFailure(
        .badInput, "the job was added, but names no app: what becomes of it is unknown")
    }
    console.note(isAdded ? "job \(job.id) of \(job.app) is enqueued" : job.cameBefore)
    let record = try await JobFollower(
      job: job, session: session, console: console, label: "waiting for a worker", total: nil
    ).follow()
    JobReport(record: record).show(asJSON: shared.json, on: console)
    await session.close()
    if let shortfall = JobReport(record: record).shortfall {
      throw CommandFailure(.unsent, shortfall)
    }
  }

  /// Adds the job. - Returns: it, or the same job that was enqueued before; whether it was, and whether it was added all the same.
  /// - Throws: when a worker would refuse it; nothing is added then.
  private func add(
    _ submission: JobSubmission, _ session: RedisSession
  ) async throws(CommandFailure) -> (job: EnqueuedJob, isRepeated: Bool, isAdded: Bool) {
    let isRepeated = try await isRepeated(submission, session)
    let priority = priority
    let submitted = try await session.run(in: submission.scope) { store throws(RedisError) in
      try await submission.submit(in: store, priority: priority)
    }
    switch submitted {
    case .created(let job): return (job, isRepeated, true)
    case .replayed(let job): return (job, true, false)
    case .conflict(let field):
      await session.close()
      throw refused(field)
    }
  }

  /// Whether the same job was enqueued before.
  /// - Throws: when a worker would refuse the job; nothing is added then.
  private func isRepeated(
    _ submission: JobSubmission, _ session: RedisSession
  ) async throws(CommandFailure) -> Bool {
    guard let job = submission.job else { return false }
    let outlook = try await session.run(in: .app(job.app)) { store throws(RedisError) in
      try await JobOutlook.of(job, digest: submission.digest, in: store)
    }
    switch outlook {
    case .open: return false
    case .repeated: return true
    case .refused(let field):
      await session.close()
      throw refused(field)
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

  /// Returns the failure for a job that breaks a rule.
  func refused(_ field: InvalidField) -> CommandFailure {
    let name = file == "-" ? "the job" : file
    return CommandFailure(.badInput, "\(name): \(field)")
  }

  /// Tells what was added, and that nobody has judged it.
  private func announce(_ job: EnqueuedJob, isRepeated: Bool, _ console: Console) {
    if shared.json {
      return console.print(
        json: .object([
          "app": .string(job.app), "id": .string(job.id),
          "priority": .string(job.priority.rawValue), "entry": .string(job.entryText),
          "judged": .bool(false), "repeated": .bool(isRepeated),
        ]))
    }
    console.print(job.id)
    if job.app.isEmpty {
      console.note("handed over, not yet judged; a refusal is a dead letter: pushpool dead list")
    } else if isRepeated {
      console.note(
        "the same job was enqueued before, and nothing is sent again; see: "
          + "pushpool job \(job.id) --app \(job.app)")
    } else {
      console.note(
        "handed over, not yet judged; to learn what became of it: "
          + "pushpool job \(job.id) --app \(job.app)")
    }
  }
}

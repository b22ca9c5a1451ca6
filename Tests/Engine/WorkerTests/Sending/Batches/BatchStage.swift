import Model
import Providers
import Reactor

@testable import Worker

/// What sends to a network of several pushes a request, without a thread.
struct BatchStage {
  let loop: EventLoop
  let lines = LogLines()
  let runs = RunTable()
  let sending: SendingParts
  let requests = TestRequests()

  init(limits: [RateLimit] = []) throws {
    loop = try EventLoop(name: "test")
    let directory = ProviderDirectory(entries: [
      ProviderDirectory.Entry(
        number: 0, app: "shop", environments: Set(PushEnvironment.allCases),
        provider: try TestBatchNetwork(), limits: limits)
    ])
    sending = SendingParts(loop, runs, directory, lines.logger)
  }

  /// Offers room to the connection of those who are tried apart.
  func offerApart(_ count: Int) {
    guard let apart = destination.apart.transport else { return }
    destination.transport(apart, hasRoomFor: count, in: requests)
  }

  /// The only destination, ready to send.
  var destination: Destination {
    let destination = sending.destinations.destination(0)
    destination.use(TestDirectory.credential)
    return destination
  }

  static func material(
    expiry: Expiry? = nil, onUnknown: UnknownPolicy = .resend, raisesBadge: Bool = false,
    title: String = "Hi"
  ) -> JobMaterial {
    JobMaterial(
      content: JobContent(
        notification: Notification(title: title, badge: raisesBadge ? .next : nil), expiry: expiry,
        unknownPolicy: onUnknown),
      createdAtMs: 0)
  }

  /// A run of a job whose users have a device each, all of them resolved unless said otherwise.
  /// - Parameter badges: what their devices show, by user.
  func run(
    _ users: [String], of material: JobMaterial, resolved: Int = .max,
    priority: Priority = .normal, job: String = "sale", badges: [String: Int32] = [:]
  ) throws -> PushRun {
    let run = try Claims.run(
      users, material: material, slot: runs.freeSlot ?? 0, priority: priority, job: job)
    runs.add(run)
    resolve(run, resolved, badges)
    return run
  }

  /// Resolves and queues the next users of a run.
  func resolve(_ run: PushRun, _ count: Int, _ badges: [String: Int32] = [:]) {
    for recipient in run.takeBatch(max: count) {
      run.beginRecipient(recipient)
      let user = String(decoding: run.lines[recipient], as: UTF8.self)
      let push = run.add(
        Push(
          token: run.lines[recipient], user: run.lines[recipient], generation: 1,
          recipient: Int32(recipient), network: .jpush, environment: .production, attempt: 1,
          target: PushTarget(to: 0), badge: badges[user] ?? 0, boundNs: loop.nowNs))
      run.endRecipient(recipient)
      sending.router.enqueue(run, push: push)
    }
  }

  /// Offers room for so many requests.
  func offer(_ count: Int = 10) { destination.offer(count, requests) }

  /// The device tokens of each request that was taken.
  var sent: [String] {
    requests.bodies.map { String($0.dropFirst().dropLast().split(separator: " ")[1]) }
  }

  /// What stands behind the device tokens of each request that was taken.
  var badges: [String] {
    requests.bodies.map { String($0.dropLast().split(separator: " ").dropFirst(2).last ?? "") }
  }

  /// The id of each request that was taken.
  var ids: [String] {
    requests.bodies.map { String($0.dropFirst().split(separator: " ")[0]) }
  }
}

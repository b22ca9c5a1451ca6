import LocalServices
import Model
import Redis

@testable import Store

/// A random sequence of operations of several producers, workers and operators on one prefix. Each reply is
/// compared with the model's; now and then everything that the store holds is, too. Loop-bound.
final class Interleaving {
  /// What a worker process is to the store: a name, and what it believes to own.
  struct Consumer {
    var name: String
    var runs: [ModelRun] = []
    var entries: [TakenEntry] = []
  }

  struct TakenEntry {
    let entry: JobEntry
    let spec: ModelJobEntry
    var isReserved = false
    /// Whether its consumer sends it.
    var isBegun = false
  }

  /// What the operations are about.
  enum Scope {
    case everything
    /// Row 7 of the fault matrix: install, uninstall and the network's verdicts only.
    case installations
  }

  let store: ShardStore
  let scope: Scope
  let seed: UInt64
  /// Whether each stream of jobs has a large entry that nobody is ever given, so that no function reads the stream.
  let isBesideLarge: Bool
  var random: SeededDice
  var model: StoreModel
  var consumers = (0..<4).map { Consumer(name: "w\($0)") }
  /// Bindings as somebody read them at some time; verdicts are about these.
  var readings: [Settlement.Invalidation] = []
  /// The latest entries that some consumer took and was done with.
  var doneWith: [TakenEntry] = []
  /// The totals as they were read last.
  var totalsBefore: [String: Int] = [:]
  var jobNumber = 0
  var consumerNumber = 4
  private(set) var step = 0
  private var history: [String] = []

  static let app = "shop"
  static let openJobsMax = 12
  static let doneWithMax = 8
  private static let historyMax = 40
  /// Steps between two readings of everything.
  private static let readEvery = 500

  init(store: ShardStore, seed: UInt64, scope: Scope, isBesideLarge: Bool = false) {
    self.store = store
    self.scope = scope
    self.seed = seed
    self.isBesideLarge = isBesideLarge
    model = StoreModel(takenOverMax: isBesideLarge ? 1 : 16)
    random = SeededDice(seed: seed)
  }

  func note(_ operation: @autoclosure () -> String) {
    if history.count == Self.historyMax { history.removeFirst() }
    history.append("\(step) \(operation())")
  }

  private func addLarge() async throws {
    for priority in Priority.allCases {
      let key = store.keys.jobs(priority)
      var command = RedisCommand("XADD", key, "1-1", "note")
      command.append([UInt8](repeating: 0x78, count: 2 << 20))
      _ = try await store.connection.call(command)
      _ = try await store.redis("XGROUP", "CREATE", key, "workers", "1-1")
    }
  }

  /// Runs so many operations, then brings all work to its end and looks at what is left.
  func run(steps: Int) async throws {
    do {
      if isBesideLarge { try await addLarge() }
      while step < steps {
        if scope == .installations || random.chance(percent: 25) {
          try await operateInstallations()
        } else {
          try await operateWork()
        }
        try complain()
        step += 1
        if step % Self.readEvery == 0 { try await compareEverything() }
      }
      try await drain()
      try await compareEverything()
      try await expectNothingLeft()
    } catch var mismatch as Mismatch {
      mismatch.seed = seed
      mismatch.step = step
      mismatch.history = history
      throw mismatch
    } catch {
      throw Mismatch(what: "\(error)", seed: seed, step: step, history: history)
    }
  }

  func complain() throws {
    if let complaint = model.complaints.first { throw Mismatch(what: complaint) }
  }

  private func operateWork() async throws {
    switch random.below(100) {
    case 0..<6: try await enqueue()
    case 6..<13: try await take()
    case 13..<19: try await admit()
    case 19..<25: try await sendDirectly()
    case 25..<39: try await claim()
    case 39..<40: try await name()
    case 40..<67: try await settle()
    case 67..<70: try await repeatSettlement()
    case 70..<74: try await heartbeat()
    case 74..<78: try await handBack()
    case 78..<81: silence()
    case 81..<86: try await reclaim()
    case 86..<90: try await promote()
    case 90..<93: try await change()
    case 93..<94: try await bury()
    case 94..<97: try await operateLetters()
    case 97..<98: try await reconcile()
    case 98..<99: try await forgetFinished()
    default: try await hurry()
    }
  }

  /// Any consumer, by its place.
  func anyConsumer() -> Int { random.below(consumers.count) }

  /// Any run that some consumer believes to have.
  func anyRun() -> (consumer: Int, run: Int)? {
    let places = consumers.indices.flatMap { consumer in
      consumers[consumer].runs.indices.map { (consumer, $0) }
    }
    return random.pick(places)
  }

  /// A worker stops. It leaves its leases to time; frozen it will wake up and believe in them, killed it
  /// comes back under another name.
  private func silence() {
    let index = anyConsumer()
    let name = consumers[index].name
    let isKilled = random.chance(percent: 50)
    note("\(isKilled ? "kill" : "freeze") \(name)")
    silent.append(name)
    guard isKilled else { return }
    consumers[index] = Consumer(name: "w\(consumerNumber)")
    consumerNumber += 1
  }

  /// Consumers whose leases are to be over before the next look for abandoned ones.
  var silent: [String] = []
}

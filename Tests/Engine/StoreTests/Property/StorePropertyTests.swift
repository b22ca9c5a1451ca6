import Glibc
import LocalServices
import Redis
import Testing

@testable import Store

/// The store's functions against a model, by random interleavings. `PUSHPOOL_PROPERTY_STEPS` asks for more of
/// them, `PUSHPOOL_PROPERTY_SEED` for one that failed.
@Suite(.serialized) struct StorePropertyTests {
  /// Sequences that run beside each other, each on a prefix and a connection of its own.
  private static let sequences = 6

  private static func number(_ name: String) -> Int? {
    getenv(name).flatMap { Int(String(cString: $0)) }
  }

  /// The sequences of a run: one when a seed is given, which is then repeated as it was.
  private static func seeds(_ first: UInt64) -> [UInt64] {
    if let seed = number("PUSHPOOL_PROPERTY_SEED") { return [UInt64(seed)] }
    return (0..<UInt64(sequences)).map { first &+ $0 }
  }

  private func run(
    _ scope: Interleaving.Scope, seeds: [UInt64], steps: Int,
    library: FunctionLibrary = StoreModel.library, isBesideLarge: Bool = false
  ) async throws {
    try await RedisServer.with { server in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for seed in seeds {
          group.addTask {
            try await Lane.withConnection(server, library: library) { _, connection in
              let store = ShardStore(connection: connection, prefix: "{pp\(seed)}")
              let interleaving = Interleaving(
                store: store, seed: seed, scope: scope, isBesideLarge: isBesideLarge)
              try await interleaving.run(steps: steps)
            }
          }
        }
        try await group.waitForAll()
      }
    }
  }

  @Test(
    "whatever producers, workers and operators do in whatever order, the store does as its model")
  func agreesWithModel() async throws {
    let steps = Self.number("PUSHPOOL_PROPERTY_STEPS") ?? 35_000
    try await run(.everything, seeds: Self.seeds(.random(in: 0..<1_000_000)), steps: steps)
  }

  @Test(
    "the store does as its model where no function reads the streams of jobs, for a large job is in them"
  )
  func agreesWithModelBesideLarge() async throws {
    let steps = Self.number("PUSHPOOL_PROPERTY_STEPS") ?? 10_000
    let seeds = Self.seeds(.random(in: 0..<1_000_000))
    try await run(.everything, seeds: seeds, steps: steps, isBesideLarge: true)
  }

  @Test("no interleaving of installs, uninstalls and verdicts removes a fresh binding")
  func keepsFreshBindings() async throws {
    let steps = Self.number("PUSHPOOL_PROPERTY_STEPS") ?? 5_000
    try await run(.installations, seeds: Self.seeds(.random(in: 0..<1_000_000)), steps: steps)
  }

  @Test("a fault in the functions does not escape the model", arguments: LibraryFault.all)
  func seesFault(_ fault: LibraryFault) async throws {
    let library = try fault.library()
    do {
      // The same seeds each time: whether a fault is seen must not be luck. Leases pass by Redis' clock, so on a
      // machine that is busy otherwise a seed may miss what it saw before.
      for first in stride(from: UInt64(1), through: 9, by: 4) {
        try await run(
          .everything, seeds: Array(first..<first + 4), steps: 20_000, library: library)
      }
    } catch let mismatch as Mismatch {
      print("caught: \(fault.name): \(mismatch.what.prefix(160)) at step \(mismatch.step)")
      return
    }
    Issue.record("\(fault.name): nobody noticed")
  }
}

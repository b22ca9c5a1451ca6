import Logging
import Model
import Providers
import Reactor
import Synchronization
import Testing

@testable import Worker

@Suite struct CredentialKeeperTests {
  /// Hands out what a test says.
  private final class Source: CredentialSource {
    private let next: Mutex<Result<Credential, CredentialError>>
    private let refusals = Mutex<[UInt64]>([])

    init(_ next: Result<Credential, CredentialError>) { self.next = Mutex(next) }

    var refused: [UInt64] { refusals.withLock { $0 } }
    func set(_ result: Result<Credential, CredentialError>) { next.withLock { $0 = result } }

    func current() async throws(CredentialError) -> Credential {
      try next.withLock { $0 }.get()
    }

    func refused(
      generation: UInt64, reason: String
    ) async throws(CredentialError) -> Credential {
      refusals.withLock { $0.append(generation) }
      return try next.withLock { $0 }.get()
    }
  }

  private static func credential(_ generation: UInt64, refreshAtMs: Int64) -> Credential {
    Credential(
      header: "bearer \(generation)", generation: generation, expiresAtMs: .max,
      refreshAtMs: refreshAtMs)
  }

  @Test("a credential is obtained, renewed when it is due, and replaced when it was refused")
  func keeps() async throws {
    let clock = FleetClock()
    let source = Source(.success(Self.credential(1, refreshAtMs: clock.nowMs + 60_000)))
    let stage = try SendingStage(credentials: source)
    defer { stage.sending.close() }
    let destination = stage.sending.destinations.destination(0)
    let keeper = CredentialKeeper(
      destination: destination, clock: clock, log: stage.lines.logger)
    #expect(await (55_000...60_000).contains(keeper.turn()))
    #expect(destination.credential?.generation == 1)

    destination.refuseCredential("ExpiredProviderToken")
    #expect(destination.credential == nil)
    // A renewal that is due already is not tried in a circle.
    source.set(.success(Self.credential(2, refreshAtMs: 0)))
    #expect(await (500...1_000).contains(keeper.turn()))
    #expect(source.refused == [1])
    #expect(destination.credential?.generation == 2 && destination.refusal == nil)
  }

  @Test("without a credential nothing waits at the destination, and the log says why")
  func pauses() async throws {
    let clock = FleetClock()
    let source = Source(
      .failure(CredentialError(reason: "no such key", resumeAtMs: clock.nowMs + 5_000)))
    let stage = try SendingStage(credentials: source)
    defer { stage.sending.close() }
    let destination = stage.sending.destinations.destination(0)
    let keeper = CredentialKeeper(
      destination: destination, clock: clock, log: stage.lines.logger)
    #expect(await (4_000...5_000).contains(keeper.turn()))
    #expect(destination.isPaused && destination.pauseMs != nil)
    #expect(stage.lines.has(.error, "no such key"))
    // The same is said once a minute, and anything else at once.
    _ = await keeper.turn()
    #expect(stage.lines.all.filter { $0.contains("no such key") }.count == 1)
    source.set(.failure(CredentialError(reason: "no such team", resumeAtMs: clock.nowMs)))
    _ = await keeper.turn()
    #expect(stage.lines.has(.error, "no such team"))
  }
}

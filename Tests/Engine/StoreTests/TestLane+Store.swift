import LocalServices
import Redis
import Store
import TestSupport

extension TestLane {
  /// A connection that is ready.
  func connect(
    _ server: RedisServer, library: FunctionLibrary = StoreLibrary.library
  ) async throws -> RedisConnection {
    try await connect(server.endpoint, library: library)
  }
}

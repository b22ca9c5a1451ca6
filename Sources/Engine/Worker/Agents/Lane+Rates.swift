internal import Logging
internal import Model
internal import Redis
internal import Store

extension Lane {
  /// Leases of a rate, for a lane that has pushes waiting for it.
  func lease(_ name: String, _ wanted: Int) async {
    guard let lease = dispatcher.leases[name] else { return }
    do throws(RedisError) {
      let answer = try await store.rates.lease(lease.limit, wanted: wanted)
      lease.granted(answer.granted, retryMs: answer.retryMs)
    } catch {
      dispatcher.logOnce("sending at the rate \(name) waits for Redis: \(error)")
      lease.failed()
    }
  }
}

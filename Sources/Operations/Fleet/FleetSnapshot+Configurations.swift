internal import Model
package import Store

extension FleetSnapshot {
  /// The configuration that came into force last, and which workers at work have it.
  package struct NewestConfiguration: Sendable, Equatable {
    package let digest: String
    /// Since when the first worker has had it, epoch milliseconds.
    package let sinceMs: Int64
    /// The names of workers at work, in order.
    package let workers: [String]
    /// The names of those that have another one.
    package let others: [String]
    /// The names of those that do not tell theirs, as those before 0.4.0, in order.
    package let unknown: [String]

    /// The number of workers at work.
    package var count: Int { workers.count + others.count + unknown.count }
  }

  /// Nil while no worker at work tells of its configuration, as those before 0.4.0 do not.
  package var newestConfiguration: NewestConfiguration? {
    var since: [String: Int64] = [:]
    var owners: [String: [String]] = [:]
    var unknown: [String] = []
    for worker in living {
      guard let digest = worker.fields["configuration_digest"], !digest.isEmpty else {
        unknown.append(worker.worker)
        continue
      }
      let loadedMs = StoredNumber.instantMs(
        worker.fields["configuration_loaded_at"].flatMap { Int64($0) } ?? 0)
      owners[digest, default: []].append(worker.worker)
      // One that is restarted with an old file loads that later than others loaded a newer one: the first to have it counts.
      since[digest] = min(since[digest] ?? .max, loadedMs)
    }
    guard let newest = since.max(by: { ($0.value, $0.key) < ($1.value, $1.key) }) else {
      return nil
    }
    return NewestConfiguration(
      digest: newest.key, sinceMs: newest.value, workers: (owners[newest.key] ?? []).sorted(),
      others: owners.filter { $0.key != newest.key }.flatMap(\.value).sorted(),
      unknown: unknown.sorted())
  }

  /// The names of workers at work that refuse their configuration as it is now, in order.
  package var refusingConfiguration: [String] {
    living.filter { !($0.fields["configuration_alarm"] ?? "").isEmpty }.map(\.worker).sorted()
  }

  /// The settings that a worker awaits a restart for, with commas between them; nil for none.
  package func restartAwaitedBy(_ worker: WorkerStatus) -> String? {
    worker.fields["restart_awaited_by"].flatMap { $0.isEmpty ? nil : $0 }
  }
}

internal import Logging
internal import Model

/// Compares the memory of the process with what its control group allows, for at the limit the kernel kills it; loop-bound.
final class MemoryWatch {
  private let worker: String
  private let bytesMax: () -> Int?
  private let residentBytes: () -> Int
  private let log: Logger
  private var wasNear = false
  /// The sentence of the last look; nil while there is room.
  private var sentence: String?

  init(
    worker: String, bytesMax: @escaping () -> Int?, residentBytes: @escaping () -> Int, log: Logger
  ) {
    self.worker = worker
    self.bytesMax = bytesMax
    self.residentBytes = residentBytes
    self.log = log
  }

  /// Looks, each beat, and tells the log when the limit comes near.
  func report() {
    sentence = Self.sentence(worker, residentBytes(), of: bytesMax())
    if let sentence, !wasNear { log.error("\(sentence)") }
    wasNear = sentence != nil
  }

  var alarmCondition: AlarmCondition? {
    sentence.map { AlarmCondition(field: AlarmKind.memory.field(worker), sentence: $0) }
  }

  private static func sentence(_ worker: String, _ bytes: Int, of bytesMax: Int?) -> String? {
    guard let bytesMax, bytes >= bytesMax / 100 * WorkerLimits.memoryAlarmPercent else {
      return nil
    }
    return
      "worker \(worker) has \(bytes >> 20) MiB of the \(bytesMax >> 20) MiB that its control group allows, and is "
      + "killed at the limit: raise the limit (memory), or give it fewer lanes (worker.lanes)"
  }
}

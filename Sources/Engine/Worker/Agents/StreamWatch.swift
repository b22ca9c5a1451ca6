internal import Logging
internal import Model
internal import Redis
internal import Store

/// Looks at what others do to the producers' streams: trim them, or fill them up to the highest id. The alarm is the functions'.
final class StreamWatch: Agent {
  private let streams: StreamStore
  private let log: Logger

  init(streams: StreamStore, log: Logger) {
    self.streams = streams
    self.log = log
  }

  /// How long until a turn: not all workers of a fleet take theirs at the same moment.
  static func pauseMs() -> UInt64 {
    WorkerLimits.streamLookMs / 2 + .random(in: 0...WorkerLimits.streamLookMs)
  }

  func turn() async -> UInt64 {
    do throws(RedisError) {
      for (priority, finding) in try await streams.inspect() {
        let metadata: Logger.Metadata = ["priority": "\(priority.rawValue)"]
        switch finding {
        case .lost(let count):
          log.error(
            "jobs were deleted from the producers' stream before a worker took them: look for MAXLEN and XTRIM",
            metadata: metadata.merging(["lost": "\(count)"]) { $1 })
        case .exhausted(let left):
          log.error(
            "the producers' stream takes no more jobs: an entry with the highest id was added",
            metadata: metadata.merging(["left": "\(left)"]) { $1 })
        case .renewed:
          log.notice("an exhausted stream was empty and takes jobs again", metadata: metadata)
        }
      }
    } catch { log.debug("streams: \(error)") }
    return Self.pauseMs()
  }
}

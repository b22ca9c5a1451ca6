/// The memory that the records of ended jobs come to, if as many jobs go on ending as of late. A value without input or
/// output.
package struct RecordForecast: Sendable, Equatable {
  /// How many jobs end in a second.
  package let jobsPerSecond: Double
  /// How long the record of one is kept, in the mean.
  package let secondsKept: Double
  /// The memory as INFO tells of it, and the number of keys that expire, which are nearly all records.
  private let settings: RedisSettings

  /// - Parameters:
  ///   - jobsPerSecond: anything below 0 counts as 0.
  ///   - secondsKept: likewise.
  package init(jobsPerSecond: Double, secondsKept: Double, settings: RedisSettings) {
    func bounded(_ figure: Double) -> Double {
      figure.isFinite ? min(max(figure, 0), StoreLimits.forecastFigureMax) : 0
    }
    self.jobsPerSecond = bounded(jobsPerSecond)
    self.secondsKept = bounded(secondsKept)
    self.settings = settings
  }

  /// The memory that Redis may use: `maxmemory`, or what the machine has where there is none; 0 where it says neither.
  package var bytesMax: Double {
    Double(settings.memoryBytesMax > 0 ? settings.memoryBytesMax : settings.systemBytes)
  }

  /// The memory that the records take once as many expire as are written.
  package var recordBytes: Double {
    jobsPerSecond * secondsKept * Double(StoreLimits.recordBytes)
  }

  /// The memory that Redis uses beside records.
  package var otherBytes: Double {
    let present = Double(settings.expiringKeys) * Double(StoreLimits.recordBytes)
    return max(0, Double(settings.memoryBytes) - present)
  }

  /// Whether Redis will be full.
  package var isTooMuch: Bool {
    bytesMax > 0 && recordBytes > 0
      && recordBytes + otherBytes > bytesMax * StoreLimits.forecastShareMax
  }

  /// When Redis is full at the earliest, in seconds from now: as if no record expired until then.
  package var secondsLeft: Double {
    let perSecond = jobsPerSecond * Double(StoreLimits.recordBytes)
    guard perSecond > 0 else { return .infinity }
    return max(0, bytesMax - Double(settings.memoryBytes)) / perSecond
  }

  /// The figures in a sentence, where the memory is known.
  package var summary: String { "\(ofRecords); other data take \(ofTheRest)" }

  /// A warning with its figures, and what to do; nil while the memory will do.
  package var warning: String? {
    guard isTooMuch else { return nil }
    return "\(ofRecords). Other data take \(ofTheRest): Redis may be full in "
      + "\(Self.hours(secondsLeft)). Give it memory, or keep records for less long "
      + "(jobs.retention_hours, jobs.named_retention_hours, jobs.unnamed_retention_minutes)"
  }

  private var ofRecords: String {
    "the records of ended jobs come to \(Self.gibibytes(recordBytes)) at today's "
      + "\(Self.rate(jobsPerSecond)) jobs a second, kept for \(Self.hours(secondsKept)) in the mean"
  }

  private var ofTheRest: String {
    let limit = settings.memoryBytesMax > 0 ? "maxmemory" : "the memory of its machine"
    return "\(Self.gibibytes(otherBytes)), and \(limit) is \(Self.gibibytes(bytesMax))"
  }

  /// `1.5 GiB`, and `0.1 GiB` for what is less.
  private static func gibibytes(_ bytes: Double) -> String {
    "\(tenths(max(0.1, bytes / 1_073_741_824))) GiB"
  }

  /// `41.2 h`, and `0.1 h` for what is less.
  private static func hours(_ seconds: Double) -> String {
    "\(tenths(max(0.1, seconds / 3_600))) h"
  }

  private static func rate(_ perSecond: Double) -> String {
    perSecond < 10 ? tenths(perSecond) : "\(Int(perSecond.rounded()))"
  }

  private static func tenths(_ figure: Double) -> String {
    let tenths = Int(min(figure * 10, StoreLimits.forecastFigureMax).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }
}

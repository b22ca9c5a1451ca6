internal import Glibc

/// A UTC minute as the metric keys spell it.
package enum Minute {
  /// `yyyyMMddHHmm` of an instant in epoch seconds.
  package static func name(epochSeconds: Int64) -> String {
    var seconds = time_t(epochSeconds)
    var parts = tm()
    gmtime_r(&seconds, &parts)
    let numbers = [parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min]
    return String(parts.tm_year + 1900)
      + numbers.map { ($0 < 10 ? "0" : "") + String($0) }.joined()
  }
}

/// The work that a Redis server has done since it started, from INFO.
package struct RedisUsage: Sendable, Equatable {
  /// All commands, those that functions call included.
  package var commands = 0
  /// Commands that only clients send: pushpool's functions call none of these.
  package var clientCommands = 0
  /// Microseconds that calls of functions took, those that were read only included.
  package var functionMicroseconds = 0
  /// User and system time of the process, to the microsecond where the kernel keeps it so.
  package var cpuMicroseconds = 0.0

  static let clientCommandNames: Set<Substring> = ["fcall", "fcall_ro", "mget", "xread"]

  package init(commands: Int = 0, clientCommands: Int = 0, functionMicroseconds: Int = 0) {
    self.commands = commands
    self.clientCommands = clientCommands
    self.functionMicroseconds = functionMicroseconds
  }

  /// The sections `stats`, `commandstats` and `cpu`; nil when the first is missing.
  package init?(info: String) {
    var isComplete = false
    for line in info.split(whereSeparator: { $0.isNewline }) {
      let parts = line.split(separator: ":", maxSplits: 1)
      guard parts.count == 2 else { continue }
      if parts[0] == "total_commands_processed", let count = Int(parts[1]) {
        commands = count
        isComplete = true
      } else if parts[0] == "used_cpu_user" || parts[0] == "used_cpu_sys" {
        cpuMicroseconds += (Double(parts[1]) ?? 0) * 1e6
      } else if parts[0].hasPrefix("cmdstat_"),
        Self.clientCommandNames.contains(parts[0].dropFirst("cmdstat_".count))
      {
        clientCommands += Self.number("calls", in: parts[1])
        if parts[0].hasPrefix("cmdstat_fcall") {
          functionMicroseconds += Self.number("usec", in: parts[1])
        }
      }
    }
    if !isComplete { return nil }
  }

  /// The line `used_memory:12345` of the section `memory`.
  package static func usedMemory(info: String) -> Int? {
    for line in info.split(whereSeparator: { $0.isNewline }) where line.hasPrefix("used_memory:") {
      return Int(line.dropFirst("used_memory:".count))
    }
    return nil
  }

  /// `calls=12,usec=34,…`
  private static func number(_ name: String, in text: Substring) -> Int {
    for field in text.split(separator: ",") where field.hasPrefix("\(name)=") {
      return Int(field.dropFirst(name.count + 1)) ?? 0
    }
    return 0
  }
}

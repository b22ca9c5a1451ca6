import Glibc

/// The kernel's figures for a process that runs (proc(5)).
package struct ProcessUsage: Sendable, Equatable {
  /// User and system time of all its threads since it started; the kernel rounds to 10 ms.
  package var cpuMicroseconds: Double
  /// The largest resident memory it ever had.
  package var residentBytesMax: Int
  /// The resident memory it has now.
  package var residentBytes: Int

  /// The largest file of /proc that is read.
  private static let textBytesMax = 1 << 20

  /// - Throws: when it has ended.
  package init(pid: CInt) throws(LocalServiceError) {
    let ticksPerSecond = Double(sysconf(CInt(_SC_CLK_TCK)))
    guard
      let stat = TextFile.read("/proc/\(pid)/stat", bytesMax: Self.textBytesMax),
      let ticks = Self.cpuTicks(stat: stat),
      let status = TextFile.read("/proc/\(pid)/status", bytesMax: Self.textBytesMax),
      let kibibytesMax = Self.kibibytes("VmHWM:", status: status),
      let kibibytes = Self.kibibytes("VmRSS:", status: status)
    else { throw LocalServiceError("process \(pid) has ended, and with it what it used") }
    cpuMicroseconds = Double(ticks) * 1e6 / ticksPerSecond
    residentBytesMax = kibibytesMax * 1_024
    residentBytes = kibibytes * 1_024
  }

  /// The fields 14 (utime) and 15 (stime). The second, the name, may hold spaces and parentheses.
  package static func cpuTicks(stat: String) -> Int? {
    guard let nameEnd = stat.lastIndex(of: ")") else { return nil }
    let fields = stat[stat.index(after: nameEnd)...].split(separator: " ")
    guard fields.count > 12, let user = Int(fields[11]), let system = Int(fields[12]) else {
      return nil
    }
    return user + system
  }

  /// A line such as `VmHWM:    12345 kB`.
  package static func kibibytes(_ name: String, status: String) -> Int? {
    for line in status.split(separator: "\n") where line.hasPrefix(name) {
      return line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first
        .flatMap { Int($0) }
    }
    return nil
  }

  /// The CPU time of all children that have ended, in microseconds (getrusage(2)).
  package static var endedChildrenCPUMicroseconds: Double {
    var usage = rusage()
    getrusage(RUSAGE_CHILDREN.rawValue, &usage)
    let times = [usage.ru_utime, usage.ru_stime]
    return times.reduce(0) { $0 + Double($1.tv_sec) * 1e6 + Double($1.tv_usec) }
  }

  /// How many descriptors a process has open; 0 when it has ended.
  package static func descriptors(of pid: CInt) -> Int {
    guard let stream = opendir("/proc/\(pid)/fd") else { return 0 }
    defer { closedir(stream) }
    var count = 0
    while let entry = readdir(stream) {
      if entry.pointee.d_name.0 != CChar(UInt8(ascii: ".")) { count += 1 }
    }
    return count
  }
}

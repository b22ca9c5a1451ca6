internal import Glibc

/// How many threads this process has, and what bounds them, for whoever has to find out why one could not be made.
enum ThreadLimits {
  /// For instance `this process has 61 threads; the user may have 64 processes and threads (ulimit -u)`.
  static var sentence: String {
    var parts: [String] = []
    if let threads = field("Threads:", of: "/proc/self/status") {
      parts.append("this process has \(threads) threads")
    }
    if let limit = field("Max processes", of: "/proc/self/limits"), limit != "unlimited" {
      parts.append(
        "the user may have \(limit) processes and threads (ulimit -u, systemd's LimitNPROC=)")
    }
    if let group = narrowestGroup() {
      parts.append(
        "its control group may have \(group.max) (\(group.file), systemd's TasksMax=) and has "
          + group.current)
    }
    return parts.joined(separator: "; ")
  }

  /// The narrowest pids.max of the process's control group and those above it (the kernel's cgroup-v2, 5-3-1).
  private static func narrowestGroup() -> (file: String, max: Int, current: String)? {
    // Version 2 has one line, `0::/path`; version 1 has one a controller, `7:pids:/path`.
    var narrowest: (file: String, max: Int, current: String)?
    for line in lines(of: "/proc/self/cgroup") {
      let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count == 3, parts[1].isEmpty || parts[1] == "pids" else { continue }
      let root = parts[1].isEmpty ? "/sys/fs/cgroup" : "/sys/fs/cgroup/pids"
      var path = parts[2].hasSuffix("/") ? parts[2].dropLast() : parts[2]
      while true {
        let folder = root + path
        if let max = lines(of: "\(folder)/pids.max").first.flatMap({ Int($0) }),
          max < narrowest?.max ?? .max
        {
          let current = lines(of: "\(folder)/pids.current").first ?? "an unknown number"
          narrowest = ("\(folder)/pids.max", max, current)
        }
        guard let slash = path.lastIndex(of: "/") else { break }
        path = path[..<slash]
      }
    }
    return narrowest
  }

  private static func field(_ name: String, of path: String) -> String? {
    let line = lines(of: path).first { $0.hasPrefix(name) }
    return line?.dropFirst(name.count).split(whereSeparator: \.isWhitespace).first
      .map { String($0) }
  }

  private static func lines(of path: String) -> [String] {
    guard let file = fopen(path, "re") else { return [] }
    defer { fclose(file) }
    var lines: [String] = []
    var line = [CChar](repeating: 0, count: 4_096)
    while lines.count < 256, fgets(&line, CInt(line.count), file) != nil {
      let bytes = line.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }
      lines.append(String(decoding: bytes, as: UTF8.self))
    }
    return lines
  }
}

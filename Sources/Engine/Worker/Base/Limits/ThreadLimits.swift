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
    var narrowest: (file: String, max: Int, current: String)?
    for folder in ControlGroup().folders(of: "pids") {
      guard let max = TextLines.read("\(folder)/pids.max").first.flatMap({ Int($0) }),
        max < narrowest?.max ?? .max
      else { continue }
      let current = TextLines.read("\(folder)/pids.current").first ?? "an unknown number"
      narrowest = ("\(folder)/pids.max", max, current)
    }
    return narrowest
  }

  private static func field(_ name: String, of path: String) -> String? {
    let line = TextLines.read(path).first { $0.hasPrefix(name) }
    return line?.dropFirst(name.count).split(whereSeparator: \.isWhitespace).first
      .map { String($0) }
  }
}

internal import Glibc

/// The control group of this process and those above it, of version 1 and 2 (cgroups(7)). Each of them bounds the process.
struct ControlGroup {
  /// A line of /proc/self/cgroup: a hierarchy, and the group's path in it.
  private struct Membership {
    /// Empty for version 2.
    let controllers: [Substring]
    let path: Substring
  }

  /// The folder in place of `/`; a test has its own.
  private let root: String
  private let memberships: [Membership]

  /// Reads in which groups the process is. What cannot be read bounds nothing.
  init(root: String = "") {
    self.root = root
    memberships = TextLines.read("\(root)/proc/self/cgroup").compactMap { line in
      // Version 2 has one line, `0::/path`; version 1 has one a controller, `7:pids:/path`.
      let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count == 3 else { return nil }
      return Membership(controllers: parts[1].split(separator: ","), path: parts[2])
    }
  }

  /// The folders of the groups that a controller bounds the process by, the process's own first. Some may not be there: in a
  /// container the path may be the machine's.
  func folders(of controller: String) -> [String] {
    memberships.flatMap { membership -> [String] in
      let mounts: [String]
      if membership.controllers.isEmpty {
        // Beside version 1 it stands in a folder of its own.
        mounts = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"]
      } else if membership.controllers.contains(Substring(controller)) {
        let all = membership.controllers.joined(separator: ",")
        mounts =
          all == controller
          ? ["/sys/fs/cgroup/\(all)"]
          : ["/sys/fs/cgroup/\(all)", "/sys/fs/cgroup/\(controller)"]
      } else {
        mounts = []
      }
      return mounts.flatMap { mount in Self.upwards(membership.path).map { root + mount + $0 } }
    }
  }

  /// A path and those above it, each without a slash at its end.
  private static func upwards(_ path: Substring) -> [Substring] {
    var path = path.hasSuffix("/") ? path.dropLast() : path
    var all = [path]
    while all.count < levelsMax, let slash = path.lastIndex(of: "/") {
      path = path[..<slash]
      all.append(path)
    }
    return all
  }

  private static let levelsMax = 64

  /// The CPUs whose time the process may use together; nil where nothing bounds that.
  var cpus: Double? {
    folders(of: "cpu").compactMap { folder -> Double? in
      if let line = TextLines.read("\(folder)/cpu.max").first {
        // `200000 100000`: so many µs of each period; `max 100000` for no bound.
        let words = line.split(separator: " ")
        guard words.count == 2 else { return nil }
        return Self.share(Int64(words[0]), Int64(words[1]))
      }
      func number(_ name: String) -> Int64? {
        TextLines.read("\(folder)/\(name)").first.flatMap { Int64($0) }
      }
      // -1 for no bound.
      return Self.share(number("cpu.cfs_quota_us"), number("cpu.cfs_period_us"))
    }.min()
  }

  private static func share(_ quota: Int64?, _ period: Int64?) -> Double? {
    guard let quota, let period, quota > 0, period > 0 else { return nil }
    return Double(quota) / Double(period)
  }

  /// The bytes of memory that the group may have, beyond which the kernel kills it; nil where nothing bounds that.
  var memoryBytesMax: Int? {
    folders(of: "memory").compactMap { folder -> Int? in
      let line =
        TextLines.read("\(folder)/memory.max").first
        ?? TextLines.read("\(folder)/memory.limit_in_bytes").first
      // `max`, or in version 1 as many pages as a number can tell.
      guard let bytes = line.flatMap({ Int($0) }), bytes > 0, bytes < Self.boundlessBytes else {
        return nil
      }
      return bytes
    }.min()
  }

  private static let boundlessBytes = 1 << 60
}

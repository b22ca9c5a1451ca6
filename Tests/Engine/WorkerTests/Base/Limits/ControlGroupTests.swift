import Foundation
import LocalServices
import Testing

@testable import Worker

/// What bounds a process by its control group, of files as the kernel shows them.
@Suite struct ControlGroupTests {
  /// A folder that stands for `/`, with these files.
  private static func group(_ files: [String: String]) throws -> (TemporaryFolder, ControlGroup) {
    let folder = try TemporaryFolder()
    for (path, text) in files {
      let file = URL(fileURLWithPath: folder.file(path))
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try text.write(to: file, atomically: false, encoding: .utf8)
    }
    return (folder, ControlGroup(root: folder.path))
  }

  @Test("in a container of version 2 its own group is the root of what it sees")
  func readsContainer() throws {
    let (folder, group) = try Self.group([
      "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "150000 100000\n",
      "sys/fs/cgroup/memory.max": "268435456\n",
    ])
    #expect(group.cpus == 1.5)
    #expect(group.memoryBytesMax == 256 << 20)
    withExtendedLifetime(folder) {}
  }

  @Test("the narrowest of the groups above counts, and max bounds nothing")
  func readsNested() throws {
    let (folder, group) = try Self.group([
      "proc/self/cgroup": "0::/system.slice/pushpool.service\n",
      "sys/fs/cgroup/system.slice/pushpool.service/cpu.max": "max 100000\n",
      "sys/fs/cgroup/system.slice/pushpool.service/memory.max": "1073741824\n",
      "sys/fs/cgroup/system.slice/cpu.max": "300000 100000\n",
      "sys/fs/cgroup/system.slice/memory.max": "536870912\n",
    ])
    #expect(group.cpus == 3)
    #expect(group.memoryBytesMax == 512 << 20)
    withExtendedLifetime(folder) {}
  }

  @Test(
    "version 1 tells each controller in a hierarchy of its own",
    arguments: [("/docker/0abc", "/docker/0abc"), ("/docker/0abc", "")])
  func readsVersion1(path: String, seen: String) throws {
    // Without a namespace of its own a container is told the machine's path, and sees its group as the root.
    let (folder, group) = try Self.group([
      "proc/self/cgroup": "12:pids:\(path)\n4:memory:\(path)\n3:cpu,cpuacct:\(path)\n0::/unused\n",
      "sys/fs/cgroup/cpu,cpuacct\(seen)/cpu.cfs_quota_us": "50000\n",
      "sys/fs/cgroup/cpu,cpuacct\(seen)/cpu.cfs_period_us": "100000\n",
      "sys/fs/cgroup/memory\(seen)/memory.limit_in_bytes": "134217728\n",
    ])
    #expect(group.cpus == 0.5)
    #expect(group.memoryBytesMax == 128 << 20)
    #expect(group.folders(of: "pids").first == "\(folder.path)/sys/fs/cgroup/pids/docker/0abc")
    withExtendedLifetime(folder) {}
  }

  @Test(
    "what bounds nothing, is not there or makes no sense is no bound",
    arguments: [
      [:],
      ["proc/self/cgroup": "0::/\n"],
      ["proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "max 100000\n"],
      [
        "proc/self/cgroup": "3:cpu:/\n4:memory:/\n",
        "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
        "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
        "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
      ],
      [
        "proc/self/cgroup": "no line of it\n0::/\n", "sys/fs/cgroup/cpu.max": "0 0\n",
        "sys/fs/cgroup/memory.max": "-5\n",
      ],
      [
        "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "99999999999999999999 1\n",
        "sys/fs/cgroup/memory.max": "99999999999999999999\n",
      ],
    ] as [[String: String]])
  func isUnbounded(files: [String: String]) throws {
    let (folder, group) = try Self.group(files)
    #expect(group.cpus == nil)
    #expect(group.memoryBytesMax == nil)
    withExtendedLifetime(folder) {}
  }

  @Test(
    "there is a lane for each CPU that may be used, a part of one counted as one",
    arguments: [
      (64, 64, nil, 64), (64, 64, 2.0, 2), (64, 64, 1.5, 2), (64, 64, 0.1, 1), (64, 3, nil, 3),
      (64, 3, 8.0, 3), (4, 4, 1e30, 4), (4_096, 4_096, nil, 1_024),
    ] as [(Int, Int, Double?, Int)])
  func countsLanes(online: Int, affinity: Int, quota: Double?, lanes: Int) {
    #expect(AllowedCPUs(online: online, affinity: affinity, quota: quota).lanes == lanes)
  }

  @Test("the reason names what is narrowest")
  func givesReason() {
    func reason(_ affinity: Int, _ quota: Double?) -> String {
      AllowedCPUs(online: 64, affinity: affinity, quota: quota).reason
    }
    #expect(reason(64, 1.5) == "the control group may use the time of 1.5 of 64 CPUs")
    #expect(reason(64, 2) == "the control group may use the time of 2 of 64 CPUs")
    #expect(reason(2, 8) == "the process may run on 2 of 64 CPUs")
    #expect(reason(64, nil) == "the process may use all of 64 CPUs")
  }

  @Test("this process has a lane at least, and no more than the machine has CPUs")
  func asksTheSystem() {
    let allowed = AllowedCPUs(ControlGroup())
    #expect(allowed.lanes >= 1 && allowed.affinity <= allowed.online)
    #expect(ProcessMemory.residentBytes > 1 << 20)
  }
}

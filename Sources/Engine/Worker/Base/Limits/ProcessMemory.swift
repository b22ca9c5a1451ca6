internal import Glibc

/// The memory of this process, and what its control group allows.
struct ProcessMemory {
  private let group: ControlGroup

  init(_ group: ControlGroup) { self.group = group }

  /// The bytes beyond which the kernel kills the group; nil where nothing bounds them. Asked anew each time, since it may be
  /// changed while the process runs.
  var bytesMax: Int? { group.memoryBytesMax }

  /// The bytes that are resident: the second number of /proc/self/statm, in pages (proc(5)).
  static var residentBytes: Int {
    let words = TextLines.read("/proc/self/statm").first?.split(separator: " ") ?? []
    guard words.count > 1, let pages = Int(words[1]) else { return 0 }
    return pages * Int(sysconf(CInt(_SC_PAGESIZE)))
  }
}

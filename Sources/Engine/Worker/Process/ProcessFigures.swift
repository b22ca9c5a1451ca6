internal import Glibc
internal import Store

/// The figures that the system has of this process.
enum ProcessFigures {
  /// Time of all processors, in user and system mode, since the process began.
  static func cpuMs() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return time.tv_sec * 1_000 + time.tv_nsec / 1_000_000
  }

  /// The entries of /proc/self/fd (proc(5)), without the one that this takes; 0 when it cannot be read.
  static func openFiles() -> Int {
    guard let folder = opendir("/proc/self/fd") else { return 0 }
    defer { closedir(folder) }
    var count = 0
    while readdir(folder) != nil { count += 1 }
    // `.`, `..`, and the folder itself.
    return max(0, count - 3)
  }

  /// Adds these to what the lanes say of themselves.
  static func add(to figures: inout WorkerFigures) {
    figures.cpuMs = cpuMs()
    figures.openFiles = openFiles()
    figures.openFilesMax = Int(clamping: DescriptorLimit.raise())
  }
}

internal import Glibc

/// The limits on the memory of this process, for whoever has to find out why it got none.
enum MemoryLimits {
  /// The stack of one thread, where the system's default is unlimited (pthread_create(3)).
  private static let stackBytesDefault: UInt64 = 2 << 20

  /// Why the process has no room for another thread's stack: a limit of its address space, for instance `this process
  /// has 92 MiB of memory and may have 97 (ulimit -v, systemd's LimitAS=)`. Nil when there is room.
  static var lackOfStack: String? {
    guard let limit = soft(RLIMIT_AS), let size = addressSpaceBytes else { return nil }
    let stack = soft(RLIMIT_STACK) ?? stackBytesDefault
    guard size + stack > limit else { return nil }
    return
      "this process has \(size >> 20) MiB of address space and may have \(limit >> 20) MiB, and a thread "
      + "takes \(stack >> 20) MiB more: allow more memory (ulimit -v, systemd's LimitAS=)"
  }

  private static func soft(_ resource: __rlimit_resource) -> UInt64? {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0, limit.rlim_cur != UInt.max
    else { return nil }
    return UInt64(limit.rlim_cur)
  }

  /// The first number of /proc/self/statm, in pages (proc(5)).
  private static var addressSpaceBytes: UInt64? {
    guard let file = fopen("/proc/self/statm", "re") else { return nil }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 128)
    guard fgets(&line, CInt(line.count), file) != nil else { return nil }
    let pages = strtoull(line, nil, 10)
    return pages > 0 ? UInt64(pages) * UInt64(max(1, sysconf(CInt(_SC_PAGESIZE)))) : nil
  }
}

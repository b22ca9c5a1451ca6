import Glibc

/// Clocks of its own for a process that is started: what it reads of them is shifted, and can be shifted again while it
/// runs. The library `libclockshift.so` stands beside the programs.
package final class ClockShift: Sendable {
  private let file: String
  private let library: String

  /// - Parameter file: made here; nobody else writes to it.
  package init(file: String) throws(LocalServiceError) {
    self.file = file
    library = try BuiltProgram.path(of: "libclockshift.so", product: "clockshift", builtBy: "chaos")
    try set()
  }

  /// The environment that the process is to be started with.
  package var environment: [String: String] {
    ["LD_PRELOAD": library, "CLOCK_SHIFT_FILE": file]
  }

  /// Shifts from now on.
  /// - Parameters:
  ///   - realtimeMs: the time of day.
  ///   - monotonicMs: CLOCK_MONOTONIC, which stands still in suspend.
  ///   - boottimeMs: CLOCK_BOOTTIME, which does not.
  package func set(
    realtimeMs: Int64 = 0, monotonicMs: Int64 = 0, boottimeMs: Int64 = 0
  ) throws(LocalServiceError) {
    // `clockshift_offsets` of CClockShift.h.
    let offsets = [realtimeMs, monotonicMs, boottimeMs]
    let descriptor = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw .system("cannot open \(file)") }
    defer { close(descriptor) }
    let bytes = offsets.count * MemoryLayout<Int64>.size
    guard pwrite(descriptor, offsets, bytes, 0) == bytes else {
      throw .system("cannot write \(file)")
    }
  }
}

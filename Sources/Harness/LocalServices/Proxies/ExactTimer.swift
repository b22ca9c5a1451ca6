import CLinux
import Glibc
import Reactor

/// A one-shot timer of one loop that is as exact as the kernel; loop-bound.
///
/// The loop's own timers are late by up to a millisecond, which is as far away as a near server is.
final class ExactTimer {
  private let descriptor: CInt
  private var watch: DescriptorWatch?
  /// Nil while it is not armed.
  private var dueNs: UInt64?

  /// - Throws: when no descriptor is left.
  init(loop: EventLoop, action: @escaping () -> Void) throws(SystemError) {
    descriptor = timerfd_create(CLOCK_BOOTTIME, CInt(TFD_NONBLOCK) | CInt(TFD_CLOEXEC))
    guard descriptor >= 0 else { throw SystemError("timerfd_create", errno: errno) }
    watch = try DescriptorWatch(loop: loop, descriptor: descriptor, for: .read) {
      [unowned self] _ in
      var expirations: UInt64 = 0
      guard read(descriptor, &expirations, 8) == 8 else { return }
      dueNs = nil
      action()
    }
  }

  deinit { Glibc.close(descriptor) }

  /// Has it fire at a time of the loop's clock, unless it fires before that anyhow.
  func schedule(atNs: UInt64) {
    guard dueNs.map({ atNs < $0 }) ?? true else { return }
    dueNs = atNs
    var time = itimerspec()
    time.it_value.tv_sec = Int(atNs / 1_000_000_000)
    time.it_value.tv_nsec = Int(atNs % 1_000_000_000)
    timerfd_settime(descriptor, CInt(TFD_TIMER_ABSTIME), &time, nil)
  }

  /// Fires no more. Safe to call twice.
  func stop() {
    watch?.stop()
    watch = nil
  }
}

internal import CLinux
internal import Glibc

/// Delivers process signals on a loop instead of interrupting whatever thread runs; loop-bound.
package final class SignalWatch {
  private let descriptor: Descriptor
  private let onSignal: (CInt) -> Void

  /// Keeps the signals from every thread started afterwards; call it first thing in `main`.
  package static func block(_ signals: [CInt]) {
    var set = Self.set(of: signals)
    pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  /// Whether whoever started the program had it ignore the signal.
  package static func isIgnored(_ signal: CInt) -> Bool { clinux_is_ignored(signal) != 0 }

  /// - Precondition: `block` was called with these signals before any thread was started.
  package init(
    loop: EventLoop, signals: [CInt], onSignal: @escaping (CInt) -> Void
  ) throws(SystemError) {
    self.onSignal = onSignal
    var set = Self.set(of: signals)
    descriptor = try Descriptor(
      signalfd(-1, &set, CInt(SFD_NONBLOCK | SFD_CLOEXEC)), "signalfd")
    _ = try loop.register(descriptor.raw, for: .input, handler: self)
  }

  private static func set(of signals: [CInt]) -> sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for signal in signals { sigaddset(&set, signal) }
    return set
  }
}

extension SignalWatch: ReadinessHandler {
  func ready(_ readiness: Readiness) {
    var info = signalfd_siginfo()
    while read(descriptor.raw, &info, MemoryLayout<signalfd_siginfo>.size) > 0 {
      onSignal(CInt(info.ssi_signo))
    }
  }
}

package import Reactor

extension SystemError {
  /// With the limit that it ran into, as far as the system tells: for a worker that cannot start.
  package var withLimits: String {
    "\(self); \(isOutOfDescriptors ? DescriptorLimit.sentence : ThreadLimits.sentence)"
  }
}

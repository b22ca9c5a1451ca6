package import Reactor

extension SystemError {
  /// With the limit that it ran into, as far as the system tells: for a worker that cannot start.
  package var withLimits: String {
    if isOutOfDescriptors { return "\(self); \(DescriptorLimit.sentence)" }
    // A thread that gets no stack fails as one too many does (pthread_create(3), EAGAIN).
    return "\(self); \(MemoryLimits.lackOfStack ?? ThreadLimits.sentence)"
  }
}

internal import Reactor

// File descriptors are short.
extension CurlPool {
  /// libcurl closes an idle connection only when it opens another: none of them frees a descriptor.
  package var idleSinceNs: UInt64? { nil }
  package func closeIdle() {}
  package func shed() -> Bool { false }

  /// libcurl was given no socket.
  func failed(socket error: SystemError) {
    guard error.isOutOfDescriptors else { return }
    shortage = error
    loop.onOutOfDescriptors?(error)
  }
}

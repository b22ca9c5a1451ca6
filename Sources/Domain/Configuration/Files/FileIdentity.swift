internal import Glibc

/// The file that a path leads to, through links too, and how it is: another one, or another content, is told by it without
/// reading the file. So is a symbolic link on the way that leads elsewhere, as Kubernetes replaces a mounted Secret.
package struct FileIdentity: Sendable, Equatable {
  private let device: UInt64
  private let node: UInt64
  private let bytes: Int64
  private let mode: UInt32
  /// When the content was changed, in nanoseconds since 1970.
  private let contentNs: Int64
  /// When anything of it was changed, such as its owner.
  private let anythingNs: Int64

  /// Nil when the path leads to nothing that this process may look at.
  package init?(path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    device = UInt64(status.st_dev)
    node = UInt64(status.st_ino)
    bytes = Int64(status.st_size)
    mode = UInt32(status.st_mode)
    contentNs = Self.nanoseconds(status.st_mtim)
    anythingNs = Self.nanoseconds(status.st_ctim)
  }

  private static func nanoseconds(_ time: timespec) -> Int64 {
    Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }
}

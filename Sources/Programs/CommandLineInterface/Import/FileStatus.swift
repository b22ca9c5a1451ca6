internal import Glibc

/// The file that a path or a descriptor leads to, whatever it is called.
struct FileStatus {
  private let device: UInt64
  private let inode: UInt64
  let isRegular: Bool
  let sizeBytes: Int64

  /// Nil when there is no such file. Links are followed.
  init?(path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    self.init(status)
  }

  init?(descriptor: CInt) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    self.init(status)
  }

  private init(_ status: stat) {
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
    isRegular = status.st_mode & S_IFMT == S_IFREG
    sizeBytes = Int64(status.st_size)
  }

  func isSameFile(as other: FileStatus) -> Bool {
    device == other.device && inode == other.inode
  }
}

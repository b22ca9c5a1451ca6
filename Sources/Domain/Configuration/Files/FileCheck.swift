internal import Glibc

/// Whether a file is there to be read.
enum FileCheck {
  /// Says what is wrong with the file at `path`; nil when it is a regular file that can be read.
  static func problem(_ path: String) -> String? {
    // Without O_NONBLOCK a named pipe would wait for its writer.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return "cannot be read: \(String(cString: strerror(errno)))" }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      return "cannot be read: \(String(cString: strerror(errno)))"
    }
    return status.st_mode & S_IFMT == S_IFREG ? nil : "is not a regular file"
  }

  /// The permissions of the file that `path` leads to, through links too; nil when there is none.
  static func permissions(_ path: String) -> mode_t? {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
  }
}

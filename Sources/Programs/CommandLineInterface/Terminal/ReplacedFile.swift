internal import Glibc
internal import ProgramSetup

/// A file that others read while it is written: it is replaced in one step, so that they find the old content or the new one.
enum ReplacedFile {
  /// - Parameter mode: who may read and write it; for its owner alone where nothing is said.
  static func write(
    _ bytes: [UInt8], to path: String, mode: mode_t = 0o600
  ) throws(CommandFailure) {
    // A name of its own: whatever else lies beside the file stays.
    var fresh = Array("\(path).\(String(repeating: "X", count: 6))".utf8CString)
    let descriptor = mkstemp(&fresh)
    guard descriptor >= 0 else { throw unwritable(path, errno) }
    var problem = bytes.withUnsafeBytes { OutputFile.write($0, to: descriptor) }
    if problem == nil, fchmod(descriptor, mode) != 0 { problem = errno }
    // Some file systems tell only as a file is closed that it did not fit.
    if close(descriptor) != 0, problem == nil { problem = errno }
    if problem == nil, rename(fresh, path) != 0 { problem = errno }
    guard let problem else { return }
    unlink(fresh)
    throw unwritable(path, problem)
  }

  private static func unwritable(_ path: String, _ problem: CInt) -> CommandFailure {
    CommandFailure(
      .outputError,
      "\(path) cannot be written: \(String(cString: strerror(problem)))")
  }
}

internal import Glibc
package import ProgramSetup

/// The file of installations that an import reads, or standard input; open for as long as this object lives.
package final class ImportInput {
  let name: String
  let descriptor: CInt
  let status: FileStatus

  /// - Parameter name: a path, or `-`.
  package init(_ name: String) throws(CommandFailure) {
    self.name = name
    descriptor = try InputFile.open(name)
    guard let status = FileStatus(descriptor: descriptor) else {
      InputFile.close(descriptor, name)
      throw InputFile.failure(name)
    }
    self.status = status
  }

  deinit { InputFile.close(descriptor, name) }

  /// Refuses a file that the import would write to while it reads it.
  /// - Parameter option: which named that file.
  func check(isNot other: FileStatus, option: String) throws(CommandFailure) {
    guard !status.isSameFile(as: other) else {
      throw CommandFailure(.usage, "\(option) names the file that is imported: name another")
    }
  }
}

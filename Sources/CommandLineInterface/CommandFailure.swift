/// Why a command ends without having done its work: one sentence for the person who typed it.
struct CommandFailure: Error, CustomStringConvertible {
  let status: ExitStatus
  let description: String

  init(_ status: ExitStatus, _ description: String) {
    self.status = status
    self.description = description
  }
}

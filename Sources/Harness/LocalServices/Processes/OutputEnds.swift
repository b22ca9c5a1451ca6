import Glibc

/// The descriptors behind one output of a child: the child's end, and the owner's for a pipe. Both
/// are closed with this object, except an owner's end that was taken.
final class OutputEnds {
  let childEnd: CInt
  private var ownerEnd: CInt?

  init(_ output: ChildProcess.Output) throws(LocalServiceError) {
    switch output {
    case .inherit:
      childEnd = -1
    case .discard:
      childEnd = try OpenDescriptor.open("/dev/null", O_WRONLY).release()
    case .file(let path):
      childEnd = try OpenDescriptor.open(path, O_WRONLY | O_CREAT | O_APPEND).release()
    case .pipe:
      let pipe = try OpenDescriptor.pipe()
      childEnd = pipe.writing
      ownerEnd = pipe.reading
    }
  }

  deinit {
    if childEnd >= 0 { close(childEnd) }
    if let ownerEnd { close(ownerEnd) }
  }

  func takeOwnerEnd() -> CInt? {
    defer { ownerEnd = nil }
    return ownerEnd
  }
}

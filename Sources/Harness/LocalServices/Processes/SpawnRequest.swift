import CLinux
import Glibc

/// The program to start, and the descriptors that it gets (-1 = the owner's).
struct SpawnRequest: Sendable {
  var path: String
  var arguments: [String]
  var environment: [String: String]?
  var folder: String?
  var input: CInt
  var output: CInt
  var error: CInt
  /// The signal that the kernel sends when the thread that called ``spawn()`` ends; 0 = nothing.
  var deathSignal: CInt = SIGKILL

  /// The new process, or the errno of what failed. Call it on a thread that outlives the child.
  func spawn() -> Result<pid_t, SpawnFailure> {
    let argv = CStringArray(arguments)
    let envp = environment.map { CStringArray($0.map { "\($0.key)=\($0.value)" }) }
    let pid = path.withCString { path in
      withOptionalCString(folder) { folder in
        var request = clinux_spawn(
          path: path, arguments: argv.pointer, environment: envp?.pointer, folder: folder,
          input: input, output: output, error: error, death_signal: deathSignal)
        return clinux_spawn(&request)
      }
    }
    return pid > 0 ? .success(pid) : .failure(SpawnFailure(errno: errno))
  }

  private func withOptionalCString<R>(
    _ text: String?, _ body: (UnsafePointer<CChar>?) -> R
  ) -> R {
    guard let text else { return body(nil) }
    return text.withCString(body)
  }
}

struct SpawnFailure: Error {
  let errno: CInt
}

/// A null-terminated array of C strings, as execve(2) takes it; freed with this object.
final class CStringArray {
  private let storage: UnsafeMutableBufferPointer<UnsafeMutablePointer<CChar>?>

  init(_ strings: [String]) {
    storage = .allocate(capacity: strings.count + 1)
    for (index, string) in strings.enumerated() {
      storage.initializeElement(at: index, to: strdup(string))
    }
    storage.initializeElement(at: strings.count, to: nil)
  }

  deinit {
    for string in storage { free(string) }
    storage.deallocate()
  }

  var pointer: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> { storage.baseAddress! }
}

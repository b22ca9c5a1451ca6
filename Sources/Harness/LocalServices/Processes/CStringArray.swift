import Glibc

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

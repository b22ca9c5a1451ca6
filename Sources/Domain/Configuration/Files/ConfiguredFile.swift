internal import Glibc

/// A file that the configuration names, and where it names it.
package struct ConfiguredFile: Sendable, Equatable {
  /// Absolute, or relative to the working directory when the configuration's own path is.
  package let path: String
  /// The configuration file or the environment variable.
  package let namedIn: String
  package let line: Int?
  package let field: String
  /// Whether what it holds is no secret, as a public key.
  let isPublic: Bool

  /// The position in the configuration of the app that names it; nil when it is no app's.
  var app: Int? { ConfigurationError.app(ofField: field) }

  /// Whether servers alone use it.
  var isOfServe: Bool { field.hasPrefix("serve.") }

  /// Whether it holds a key or a password that nobody else may read.
  var isSecret: Bool { isKey && !isPublic }

  /// Whether it holds what somebody proves himself with: a key, public ones too, or a password.
  var isKey: Bool {
    [
      "key_file", "certificate_file", "service_account_file", "password_file", "secret_file",
      "key_files",
    ].contains { field.hasSuffix($0) }
  }
}

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

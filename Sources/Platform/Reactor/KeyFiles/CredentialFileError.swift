/// A key, account or password file that cannot be used. It names the file and the problem, never the content.
package struct CredentialFileError: Error, Equatable, CustomStringConvertible {
  package let file: String
  /// The rest of a sentence that begins with the file's name.
  package let problem: String

  package init(file: String, problem: String) {
    self.file = file
    self.problem = problem
  }

  package var description: String { "\(file) \(problem)" }
}

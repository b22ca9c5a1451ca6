import Glibc

/// The programs of this package: they stand beside the one that runs, a test's too, built in the same mode.
package enum BuiltProgram {
  /// Where the running program stands.
  package static func folder() throws(LocalServiceError) -> String {
    var path = [CChar](repeating: 0, count: Int(PATH_MAX))
    let length = readlink("/proc/self/exe", &path, path.count)
    guard length > 0 else { throw LocalServiceError("cannot read /proc/self/exe") }
    let own = String(decoding: path[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return String(own.prefix(upTo: own.lastIndex(of: "/")!))
  }

  /// - Parameters:
  ///   - product: its name in the package; nil for its own.
  ///   - goal: the goal of make that builds it.
  package static func path(
    of name: String, product: String? = nil, builtBy goal: String
  ) throws(LocalServiceError) -> String {
    let path = "\(try folder())/\(name)"
    guard access(path, X_OK) == 0 else {
      throw LocalServiceError(
        "\(path) is missing: run `swift build -c release --product \(product ?? name)`, or `make \(goal)`, "
          + "which does")
    }
    return path
  }
}

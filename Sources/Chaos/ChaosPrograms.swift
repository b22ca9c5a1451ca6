import Glibc

/// The programs that take part: those that stand beside this one, built in the same mode.
package struct ChaosPrograms: Sendable {
  package private(set) var pushpool: String
  package let simulator: String

  package init() throws {
    let folder = try Self.ownFolder()
    pushpool = try Self.sibling("pushpool", in: folder)
    simulator = try Self.sibling("pushpool-simulator", in: folder)
  }

  /// The same with pushpool's debug build; nil when there is none.
  func withDebugWorkers() -> ChaosPrograms? {
    guard let folder = pushpool.lastIndex(of: "/").map({ pushpool[..<$0] }) else { return nil }
    if folder.hasSuffix("/debug") { return self }
    var programs = self
    programs.pushpool = "\(folder)/../debug/pushpool"
    return access(programs.pushpool, X_OK) == 0 ? programs : nil
  }

  /// Where this program stands.
  static func ownFolder() throws -> String {
    var path = [CChar](repeating: 0, count: Int(PATH_MAX))
    let length = readlink("/proc/self/exe", &path, path.count)
    guard length > 0 else { throw ChaosError("cannot read /proc/self/exe") }
    let own = String(decoding: path[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return String(own.prefix(upTo: own.lastIndex(of: "/")!))
  }

  private static func sibling(_ name: String, in folder: String) throws(ChaosError) -> String {
    let path = "\(folder)/\(name)"
    guard access(path, X_OK) == 0 else {
      throw ChaosError(
        "\(path) is missing: run `swift build -c release --product \(name)`, or `make chaos`, "
          + "which does")
    }
    return path
  }
}

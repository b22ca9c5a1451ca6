import Glibc
import LocalServices

/// The programs that take part.
package struct ChaosPrograms: Sendable {
  package private(set) var pushpool: String
  package let simulator: String

  package init() throws {
    pushpool = try BuiltProgram.path(of: "pushpool", builtBy: "chaos")
    simulator = try BuiltProgram.path(of: "pushpool-simulator", builtBy: "chaos")
  }

  /// Returns the programs with pushpool's debug build; nil when there is none.
  func withDebugWorkers() -> ChaosPrograms? {
    guard let folder = pushpool.lastIndex(of: "/").map({ pushpool[..<$0] }) else { return nil }
    if folder.hasSuffix("/debug") { return self }
    var programs = self
    programs.pushpool = "\(folder)/../debug/pushpool"
    return access(programs.pushpool, X_OK) == 0 ? programs : nil
  }
}

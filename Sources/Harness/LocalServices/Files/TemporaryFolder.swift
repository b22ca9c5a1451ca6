import CLinux
import Glibc

/// A folder of mode 0700 that is removed with all in it when this object is released or closed, and
/// by ``FolderJanitor`` when the process dies without doing so.
package final class TemporaryFolder: Sendable {
  /// Short on purpose: with a file name it must fit into a Unix socket's address (107 bytes).
  package let path: String

  /// A longer TMPDIR would push socket paths over their limit.
  private static let parentBytesMax = 60

  package init() throws(LocalServiceError) {
    var parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    while parent.count > 1, parent.hasSuffix("/") { parent.removeLast() }
    if parent.utf8.count > TemporaryFolder.parentBytesMax || !parent.hasPrefix("/") {
      parent = "/tmp"
    }
    var template = Array("\(parent)/pp-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw .system("cannot make a folder in \(parent)")
    }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    FolderJanitor.shared.watch(path)
  }

  deinit {
    close()
  }

  /// Removes the folder now; closing twice does nothing.
  package func close() {
    _ = clinux_remove_tree(path)
  }

  /// The path of a file in this folder.
  package func file(_ name: String) -> String {
    "\(path)/\(name)"
  }
}

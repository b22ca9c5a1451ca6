import Glibc
import LocalServices

/// The programs that take part, each built in the same mode as this one.
struct Programs {
  let pushpool: String
  let simulator: String
  let h2load: String

  init() throws {
    var path = [CChar](repeating: 0, count: Int(PATH_MAX))
    let length = readlink("/proc/self/exe", &path, path.count)
    guard length > 0 else { throw BenchError("cannot read /proc/self/exe") }
    let own = String(decoding: path[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let folder = String(own.prefix(upTo: own.lastIndex(of: "/")!))
    pushpool = try Self.sibling("pushpool", in: folder)
    simulator = try Self.sibling("pushpool-simulator", in: folder)
    do {
      h2load = try ChildProcess.find("h2load")
    } catch {
      throw BenchError("\(error); install the package nghttp2-client, or run `make deps`")
    }
  }

  private static func sibling(_ name: String, in folder: String) throws(BenchError) -> String {
    let path = "\(folder)/\(name)"
    guard access(path, X_OK) == 0 else {
      throw BenchError(
        "\(path) is missing: run `swift build -c release --product \(name)`, or `make bench`, "
          + "which does")
    }
    return path
  }
}

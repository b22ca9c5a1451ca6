/// `/v1/projects/<project>/messages:send`.
enum FCMPath {
  static let prefix: StaticString = "/v1/projects/"
  private static let suffix: StaticString = "/messages:send"

  /// The project of a send request; nil when the path is another one.
  static func project(of path: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    let start = prefix.utf8CodeUnitCount
    let end = path.count - suffix.utf8CodeUnitCount
    guard end > start, path.starts(with: prefix), path.ends(with: suffix) else { return nil }
    let project = path.taking(start..<end)
    return project.firstOffset(of: UInt8(ascii: "/")) == nil ? project : nil
  }
}

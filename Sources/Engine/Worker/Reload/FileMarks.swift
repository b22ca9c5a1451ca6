internal import PushpoolConfiguration

/// Files, each once, and how each was before it was read.
struct FileMarks {
  private(set) var paths: [String] = []
  /// By position; nil for a file that was not there.
  private(set) var identities: [FileIdentity?] = []
  private var known: Set<String> = []

  /// Adds files that are not among these.
  mutating func add(
    _ paths: [String], _ identity: (String) -> FileIdentity? = { FileIdentity(path: $0) }
  ) {
    for path in paths where known.insert(path).inserted {
      self.paths.append(path)
      identities.append(identity(path))
    }
  }

  /// The marks of these files alone.
  func only(_ wanted: [String]) -> FileMarks {
    let wanted = Set(wanted)
    var kept = FileMarks()
    for (path, identity) in zip(paths, identities) where wanted.contains(path) {
      kept.add([path]) { _ in identity }
    }
    return kept
  }
}

internal import PushpoolConfiguration

/// Tells when files have changed and lie still again. Somebody who replaces several is not to be disturbed: they count as
/// replaced when two looks at all of them find the same. A value without input or output.
struct FileWatch {
  enum Finding: Equatable {
    /// The files are as they were when they were read.
    case calm
    /// Some have changed, and perhaps others will: look again soon.
    case restless
    /// The files have changed: read them.
    case changed
  }

  private let marks: FileMarks
  private let countMax: Int
  private let unrestMsMax: Int64
  /// The file that the next look begins with, but for the first, which each look includes.
  private var next = 1
  /// All files, as the look before found them, and since when they have been restless.
  private var unrest: (identities: [FileIdentity?], sinceMs: Int64)?

  /// - Parameters:
  ///   - marks: the files, as they were before they were read.
  ///   - countMax: of the files at one look while nothing has changed: there may be tens of thousands.
  ///   - unrestMsMax: for how long to wait at most for files that change again and again.
  init(
    _ marks: FileMarks = FileMarks(), countMax: Int = WorkerLimits.filesLookedAtMax,
    unrestMsMax: Int64 = WorkerLimits.filesUnrestMsMax
  ) {
    self.marks = marks
    self.countMax = countMax
    self.unrestMsMax = unrestMsMax
  }

  /// How long to wait between two looks while nothing has changed, in ms.
  var lookMs: UInt64 {
    marks.paths.count < WorkerLimits.fewFilesMax
      ? WorkerLimits.fewFilesLookMs : WorkerLimits.filesLookMs
  }

  /// Looks at the files.
  /// - Parameters:
  ///   - nowMs: by a clock that is never set.
  ///   - identity: how the file at a path is now.
  mutating func look(nowMs: Int64, _ identity: (String) -> FileIdentity?) -> Finding {
    guard let unrest else {
      guard isAnyOther(identity) else { return .calm }
      self.unrest = (marks.paths.map(identity), nowMs)
      return .restless
    }
    let identities = marks.paths.map(identity)
    guard identities != marks.identities else {
      self.unrest = nil
      return .calm
    }
    let isStill = identities == unrest.identities
    self.unrest = (identities, unrest.sinceMs)
    return isStill || nowMs - unrest.sinceMs >= unrestMsMax ? .changed : .restless
  }

  /// Whether one of the files that it is their turn to be looked at is not as it was.
  private mutating func isAnyOther(_ identity: (String) -> FileIdentity?) -> Bool {
    let count = marks.paths.count
    guard count > 0 else { return false }
    if identity(marks.paths[0]) != marks.identities[0] { return true }
    for _ in 0..<min(countMax, count) - 1 {
      if next >= count { next = 1 }
      if identity(marks.paths[next]) != marks.identities[next] { return true }
      next += 1
    }
    return false
  }
}

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

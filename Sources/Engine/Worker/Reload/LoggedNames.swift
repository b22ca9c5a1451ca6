/// Names in a line of the log.
enum LoggedNames {
  /// The first of them, and how many others there are.
  static func text(_ names: [String]) -> String {
    let more = names.count - WorkerLimits.diffNamesMax
    return names.prefix(WorkerLimits.diffNamesMax).joined(separator: ", ")
      + (more > 0 ? " and \(more) more" : "")
  }
}

internal import Model

/// The id of a job whose producer gave none.
enum JobIdentity {
  /// What the workers call it: its stream entry behind the priority's initial, as entries of two streams can be
  /// equal.
  static func given(to entry: String, priority: Priority) -> String {
    "\(priority.rawValue.prefix(1))\(entry)"
  }
}

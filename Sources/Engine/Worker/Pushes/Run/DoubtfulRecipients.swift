/// Recipients of a run all of whose pushes have a doubtful verdict, kept until it shows how many such verdicts there are.
struct DoubtfulRecipients {
  private var recipients: [Int] = []
  /// Theirs, together.
  private(set) var pushes = 0

  var count: Int { recipients.count }

  mutating func add(_ recipient: Int, pushes: Int) {
    recipients.append(recipient)
    self.pushes += pushes
  }

  mutating func takeAll() -> [Int] {
    defer { self = DoubtfulRecipients() }
    return recipients
  }
}

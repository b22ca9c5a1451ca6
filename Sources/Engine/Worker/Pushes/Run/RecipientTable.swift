internal import Store

/// One recipient of a chunk: a user with all installations, or one installation, also one that is left of a user.
struct Recipient {
  /// The first of the recipient's pushes, which are neighbours in the run's table.
  var firstPush: Int32 = 0
  var pushCount: Int32 = 0
  /// Pushes without a decision.
  var openCount: Int32 = 0
  var isDone = false
}

/// The recipients of a run in the order of their lines, and how far they are resolved; loop-bound.
struct RecipientTable {
  /// The recipients' lines, borrowed. Installations that are left of a user have none here.
  let lines: [UnsafeRawBufferPointer]
  /// The first line that is an installation; those before it are users.
  let firstInstallation: Int
  private var recipients: [Recipient]
  /// The first recipient not resolved yet.
  private(set) var cursor = 0
  /// The recipient whose pushes are being added.
  private var resolving: Int?
  /// How many are not done.
  private(set) var open: Int

  /// - Parameters:
  ///   - text: their lines, which outlive the table.
  ///   - done: those that were told before.
  init(_ text: UnsafeRawBufferPointer, of kind: ChunkLines, done: DoneBitmap) {
    lines = Array(SegmentLines(text))
    firstInstallation = Self.firstInstallation(lines, of: kind)
    recipients = Array(repeating: Recipient(), count: lines.count)
    open = lines.count
    for index in lines.indices where done.contains(index) {
      recipients[index].isDone = true
      open -= 1
    }
    skipDone()
  }

  /// How many they are, with those that are left of users.
  var count: Int { recipients.count }

  subscript(index: Int) -> Recipient { recipients[index] }

  var isResolved: Bool { cursor >= lines.count }

  /// Returns whether a line is a user or an installation.
  func lines(of index: Int) -> ChunkLines {
    index < firstInstallation ? .users : .installations
  }

  /// The first of these lines that is an installation; those before it are users.
  private static func firstInstallation(
    _ lines: [UnsafeRawBufferPointer], of kind: ChunkLines
  ) -> Int {
    guard kind == .users else { return 0 }
    var first = lines.count
    while first > 0, InstallationLine.isOne(lines[first - 1]) { first -= 1 }
    return first
  }

  // MARK: Resolving

  /// Takes the next ones to resolve, all of one kind.
  mutating func take(max count: Int) -> Range<Int> {
    let first = cursor
    let end = cursor < firstInstallation ? firstInstallation : lines.count
    while cursor < end, cursor - first < count, !recipients[cursor].isDone { cursor += 1 }
    defer { skipDone() }
    return first..<cursor
  }

  /// Takes the next one that is not to be resolved any more; nil when there is none.
  mutating func takeNext() -> Int? {
    skipDone()
    guard cursor < lines.count else { return nil }
    defer { cursor += 1 }
    return cursor
  }

  /// Takes a batch back whose resolving failed.
  mutating func giveBack(_ batch: Range<Int>) { cursor = min(cursor, batch.lowerBound) }

  private mutating func skipDone() {
    while cursor < lines.count, recipients[cursor].isDone { cursor += 1 }
  }

  /// Begins to add the pushes of a recipient; all of them before the next recipient's.
  mutating func begin(_ index: Int) { resolving = index }

  /// All pushes of the recipient that was begun are there.
  mutating func endResolving() { resolving = nil }

  /// Notes the number of another push of a recipient.
  mutating func add(push: Int, of index: Int) {
    if recipients[index].pushCount == 0 { recipients[index].firstPush = Int32(push) }
    recipients[index].pushCount += 1
    recipients[index].openCount += 1
  }

  // MARK: Ending

  /// Notes the decision about a push of a recipient.
  /// - Returns: whether it was the last one. While a recipient is being resolved its later pushes are not there yet.
  mutating func noteDecision(of index: Int) -> Bool {
    recipients[index].openCount -= 1
    return recipients[index].openCount == 0 && index != resolving
  }

  /// The numbers of a recipient's pushes.
  func pushes(of index: Int) -> Range<Int> {
    let first = Int(recipients[index].firstPush)
    return first..<(first + Int(recipients[index].pushCount))
  }

  /// Adds what is left of a user, with the only push that it has.
  mutating func append(push: Int, isOpen: Bool) {
    recipients.append(
      Recipient(firstPush: Int32(push), pushCount: 1, openCount: isOpen ? 1 : 0))
    open += 1
  }

  /// A recipient is done: what is still open of it are recipients of their own.
  mutating func finish(_ index: Int) {
    if resolving == index { resolving = nil }
    recipients[index].openCount = 0
    recipients[index].isDone = true
    open -= 1
  }
}

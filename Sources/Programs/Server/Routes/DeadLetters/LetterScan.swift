internal import Model
internal import Operations
internal import Redis
internal import Store

/// Goes through the dead letters, oldest first, up to a bound. Letters that come meanwhile are not for it.
struct LetterScan {
  private let office: DeadLetterOffice
  private let filter: LetterFilter
  private let end: EntryID?
  private let lookedMax: Int
  /// How many letters were looked at.
  private(set) var looked = 0
  /// The last letter that was looked at; at first the one to start behind.
  private(set) var position: String?
  /// Whether there are no letters behind.
  private(set) var isAtEnd = false

  /// - Parameters:
  ///   - after: the entry to start behind; nil for the first letter.
  ///   - upTo: the last entry; nil for the last letter that there is now.
  init(
    _ filter: LetterFilter, after: String? = nil, upTo: String? = nil, lookedMax: Int,
    in stores: [ShardStore]
  ) async throws(RedisError) {
    office = DeadLetterOffice(stores: stores)
    self.filter = filter
    self.lookedMax = lookedMax
    position = after
    var last: EntryID?
    for store in stores {
      guard let found = try await store.deadLetters.last().flatMap({ EntryID($0) }) else {
        continue
      }
      last = last.map { max($0, found) } ?? found
    }
    let bound = upTo.flatMap { EntryID($0) }
    end = last.map { last in bound.map { min($0, last) } ?? last }
    isAtEnd = end == nil
  }

  /// The letters of the filter among the next ones: none when none of them is, also when there are more.
  mutating func next() async throws(RedisError) -> [DeadLetter] {
    let max = min(OperationsLimits.deadPage, lookedMax - looked)
    guard !isAtEnd, max > 0, let end else { return [] }
    let page = try await office.list(after: position, max: max)
    let letters = page.prefix { letter in EntryID(letter.entry).map { $0 <= end } ?? false }
    looked += letters.count
    position = letters.last?.entry ?? position
    isAtEnd = letters.count < page.count || page.isEmpty
    return letters.filter(filter.admits)
  }

  var goesOn: Bool { !isAtEnd && looked < lookedMax }
}

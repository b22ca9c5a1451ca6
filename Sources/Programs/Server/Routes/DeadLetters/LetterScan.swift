internal import Model
internal import Operations
internal import Redis
internal import Store

/// Goes through the dead letters, oldest first, up to a bound. Letters that come meanwhile are not for it.
struct LetterScan {
  private let office: DeadLetterOffice
  private let filter: LetterFilter
  private let end: ShardEntry?
  private let lookedMax: Int
  /// How many letters were looked at.
  private(set) var looked = 0
  /// The last letter that was looked at; at first the one to start behind.
  private(set) var position: ShardEntry?
  /// Whether there are no letters behind.
  private(set) var isAtEnd = false

  /// - Parameters:
  ///   - after: the letter to start behind; nil for the first one.
  ///   - upTo: the last letter; nil for the last one that there is now.
  init(
    _ filter: LetterFilter, after: ShardEntry? = nil, upTo: ShardEntry? = nil, lookedMax: Int,
    in stores: [ShardStore]
  ) async throws(RedisError) {
    office = DeadLetterOffice(stores: stores)
    self.filter = filter
    self.lookedMax = lookedMax
    position = after
    var last: ShardEntry?
    for store in stores {
      guard let id = try await store.deadLetters.last().flatMap({ EntryID($0) }) else {
        continue
      }
      let found = ShardEntry(shard: store.id, id: id)
      last = last.map { max($0, found) } ?? found
    }
    end = last.map { last in upTo.map { min($0, last) } ?? last }
    isAtEnd = end == nil
  }

  /// The letters of the filter among the next ones: none when none of them is, also when there are more.
  mutating func next() async throws(RedisError) -> [DeadLetter] {
    let max = min(OperationsLimits.deadPage, lookedMax - looked)
    guard !isAtEnd, max > 0, let end else { return [] }
    let page = try await office.list(after: position, max: max)
    let letters = page.prefix { $0.name <= end }
    looked += letters.count
    position = letters.last?.name ?? position
    isAtEnd = letters.count < page.count || page.isEmpty
    return letters.filter(filter.admits)
  }

  var goesOn: Bool { !isAtEnd && looked < lookedMax }
}

/// The renderings of a job by destination and variant of its text, each kept for as long as requests in flight may point into
/// it.
struct RenderingTable {
  struct Entry {
    let rendering: JobRendering
    let atMs: Int64
    /// The number of the destination that it is for.
    let destination: Int
  }

  private let variants: Int
  /// By place of the destination among those of the app, from the first that something was rendered for, and variant.
  private var first = 0
  private var entries: [Entry?] = []
  /// Earlier messages that requests in flight may still point into, by number of the destination and variant, oldest
  /// first. Apart from `entries`, of which a copy is made for each push.
  private var retired: [Int: [JobMessage]] = [:]
  /// The renderings for destinations that others have taken the place of, by number and variant. Requests in flight may point
  /// into them.
  private var replaced: [Int: Entry] = [:]

  /// - Parameter variants: how many the job's text has.
  init(variants: Int) { self.variants = variants }

  // Asked for each push.
  @inline(__always)
  func entry(at place: Int, _ variant: UInt8) -> Entry? {
    let index = (place - first) * variants + Int(variant)
    return index >= 0 && index < entries.count ? entries[index] : nil
  }

  /// The entry of a destination that another has taken the place of.
  func replaced(_ destination: Int, _ variant: UInt8) -> Entry? {
    replaced[number(destination, variant)]
  }

  mutating func keep(_ made: Entry, at place: Int, _ variant: UInt8) {
    if entries.isEmpty { first = place }
    while first > place {
      entries.insert(contentsOf: repeatElement(nil, count: variants), at: 0)
      first -= 1
    }
    let index = (place - first) * variants + Int(variant)
    while entries.count <= index { entries.append(nil) }
    entries[index] = made
  }

  /// Keeps the entries of two destinations that have the same place. The newer one has the place from now on.
  mutating func keep(_ made: Entry, beside known: Entry, at place: Int, _ variant: UInt8) {
    let (newer, older) = made.destination > known.destination ? (made, known) : (known, made)
    replaced[number(older.destination, variant)] = older
    keep(newer, at: place, variant)
  }

  /// Keeps what was rendered for as long as a request can last that was made of it.
  mutating func retire(_ message: JobMessage, for destination: Int, _ variant: UInt8) {
    let number = number(destination, variant)
    retired[number, default: []].append(message)
    if retired[number, default: []].count > WorkerLimits.retiredMessagesMax {
      retired[number]?.removeFirst()
    }
  }

  private func number(_ destination: Int, _ variant: UInt8) -> Int {
    destination * variants + Int(variant)
  }
}

internal import Redis

/// The arguments of a function that takes more than eight, as Functions/Library/sections.lua reads them: first which sections follow
/// and how many rows each has, then the rows. A section without rows is left out.
struct Sections {
  /// A name, and how many columns a row has; which they are stands above the function.
  struct Section: Equatable {
    let name: String
    let columns: Int
  }

  private var header: [UInt8] = []
  private var rows = RedisCommand()

  /// A section with a row for each element.
  /// - Parameter write: appends the columns of an element's row.
  mutating func add<Rows: Collection>(
    _ section: Section, _ elements: Rows, _ write: (Rows.Element, inout RedisCommand) -> Void
  ) {
    let count = elements.count
    guard count > 0 else { return }
    let before = rows.count
    for element in elements { write(element, &rows) }
    assert(rows.count - before == count * section.columns, "rows of \(section.name)")
    if !header.isEmpty { header.append(UInt8(ascii: " ")) }
    header.append(contentsOf: section.name.utf8)
    header.append(UInt8(ascii: ":"))
    header.append(contentsOf: String(count).utf8)
  }

  /// A section of one row.
  mutating func add(_ section: Section, _ write: (inout RedisCommand) -> Void) {
    add(section, CollectionOfOne(())) { _, row in write(&row) }
  }

  /// Appends all of it to the call of the function.
  func append(to command: inout RedisCommand) {
    command.append(header)
    command.append(argumentsOf: rows)
  }
}

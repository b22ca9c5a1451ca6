/// The instructions that valgrind's callgrind counted in a process from its start to its end.
package struct CallgrindProfile: Sendable, Equatable {
  package var instructions: Int
  /// Calls of the C library's functions that allocate.
  package var allocations: Int

  private static let allocators: Set<Substring> = [
    "malloc", "calloc", "realloc", "memalign", "aligned_alloc", "posix_memalign",
  ]

  package init(instructions: Int, allocations: Int) {
    self.instructions = instructions
    self.allocations = allocations
  }

  /// From the text of a `callgrind.out` file; nil when it has no total.
  ///
  /// A name is written once, with a number that stands for it later: `fn=(7) malloc`, `cfn=(7)`. A call
  /// is two lines, the callee and then how often: `calls=12 0`.
  package init?(_ text: String) {
    var names: [Substring: Substring] = [:]
    var callee: Substring = ""
    var total: Int?
    var allocations = 0
    for line in text.split(separator: "\n") {
      if line.hasPrefix("fn=") {
        _ = Self.name(line.dropFirst(3), &names)
      } else if line.hasPrefix("cfn=") {
        callee = Self.name(line.dropFirst(4), &names)
      } else if line.hasPrefix("calls="), Self.allocators.contains(callee) {
        allocations += line.dropFirst(6).split(separator: " ").first.flatMap { Int($0) } ?? 0
      } else if line.hasPrefix("totals: ") {
        total = Int(line.dropFirst(8))
      }
    }
    guard let total else { return nil }
    self.init(instructions: total, allocations: allocations)
  }

  private static func name(
    _ text: Substring, _ names: inout [Substring: Substring]
  ) -> Substring {
    guard text.hasPrefix("("), let end = text.firstIndex(of: ")") else { return text }
    let number = text[text.startIndex...end]
    let rest = text[text.index(after: end)...].drop { $0 == " " }
    // A recursive call has another name: `malloc'2`.
    if !rest.isEmpty { names[number] = rest.prefix { $0 != "'" } }
    return names[number] ?? ""
  }
}

import Model
import Testing

@testable import Store

@Suite struct FirstSizesTests {
  private static func names(_ first: FirstSizes) -> [String] { first.sizes.map(\.name) }

  @Test(
    "the first of many are told in the order of their bytes, in whatever order they come",
    arguments: [1, 2, 200])
  func first(max: Int) {
    let all = (0..<5_000).map { "channel-\($0)" }
    let expected = all.sorted { TextRule.precedes($0, $1) }
    for place in ["", expected[7], expected[4_990], "a", "z"] {
      var first = FirstSizes(behind: place, max: max)
      for name in all.shuffled() { first.add(GroupSize(name: name, users: 1)) }
      let behind = expected.filter { TextRule.precedes(place, $0) }
      #expect(Self.names(first) == Array(behind.prefix(max)))
    }
  }

  @Test("a name that comes twice is told once, with its later size")
  func twice() {
    var first = FirstSizes(behind: "", max: 2)
    for round in 1...2_000 {
      for name in ["b", "a", "c"] { first.add(GroupSize(name: name, users: round)) }
    }
    #expect(
      first.sizes == [GroupSize(name: "a", users: 2_000), GroupSize(name: "b", users: 2_000)])
  }

  @Test("two spellings of a name that look alike are two names")
  func spellings() {
    var first = FirstSizes(behind: "", max: 9)
    first.add(GroupSize(name: "caf\u{e9}", users: 1))
    first.add(GroupSize(name: "cafe\u{301}", users: 2))
    #expect(first.sizes.map(\.users) == [2, 1])
  }
}

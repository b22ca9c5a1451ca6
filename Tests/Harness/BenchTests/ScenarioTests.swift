import ArgumentParser
import Bench
import Testing

@Suite struct ScenarioTests {
  @Test("scenarios have distinct names, and are found by them")
  func names() {
    let names = Scenario.all.map(\.name)
    #expect(Set(names).count == names.count)
    for name in names { #expect(Scenario.named(name)?.name == name) }
    #expect(Scenario.named("nothing") == nil)
  }

  @Test(
    "a name that is none is refused with those that are", arguments: ["apsn", "apns,", "apns,x"])
  func only(names: String) {
    let result = Result { try BenchCommand.parse(["--only", names]) }
    if names == "apns," {
      #expect((try? result.get()) != nil)
    } else {
      #expect(throws: (any Error).self) { try result.get() }
    }
  }

  @Test(
    "numbers out of their range are refused", arguments: [["--runs", "0"], ["--pushes", "5"]])
  func numbers(arguments: [String]) {
    #expect(throws: (any Error).self) { try BenchCommand.parse(arguments) }
  }
}

import LocalServices
import Model
import TestSupport
import Testing

@testable import Simulator

/// The page about scripts says what the program reads.
@Suite("The page about the simulator's scripts")
struct ScriptPageTests {
  private static let page = "docs/reference/simulator.md"

  /// The names in the first column of the table below a heading.
  private func names(below heading: String) throws -> [String] {
    let lines = Document.text(Self.page).split(separator: "\n", omittingEmptySubsequences: false)
    let start = try #require(lines.firstIndex { $0 == "## \(heading)" }, "\(heading)")
    let section = lines[(start + 1)...].prefix { !$0.hasPrefix("## ") }
    return section.filter { $0.hasPrefix("| `") }.flatMap { row in
      row.split(separator: "|")[0].split(separator: ",").map {
        String($0.filter { $0 != "`" && $0 != " " })
      }
    }
  }

  @Test("it has every field of a script and of a rule, and no other")
  func fields() throws {
    #expect(try names(below: "Fields of a script").sorted() == SimulatorScript.fieldNames.sorted())
    #expect(try names(below: "Fields of a rule").sorted() == ScriptRule.fieldNames.sorted())
  }

  @Test("the program reads every example")
  func examples() throws {
    let examples = DocumentSnippet.all("json", in: Self.page)
    #expect(examples.count >= 3)
    for example in examples {
      _ = try SimulatorScript(json: Array(example.text.utf8))
    }
  }

  @Test("it has every action of a rule, and the help has every field")
  func actionsAndHelp() async throws {
    let page = Document.text(Self.page)
    for action in ScriptRule.Action.allCases { #expect(page.contains("`\(action.rawValue)`")) }
    let command = try BuiltProgram.folder() + "/pushpool-simulator"
    let child = try ChildProcess(command, ["--help"], output: .pipe, error: .discard)
    let output = try #require(child.standardOutput)
    var help = ""
    while let line = await output.nextLine(timeoutMs: 60_000) { help += line + "\n" }
    #expect(await child.waitForExit(timeoutMs: 60_000) == .code(0))
    for name in SimulatorScript.fieldNames + ScriptRule.fieldNames {
      #expect(help.contains(name), "\(name)")
    }
    for line in Simulator.paths {
      let path = try #require(line.split(separator: " ").dropFirst().first)
      #expect(help.contains(path), "\(path)")
    }
    #expect(help.contains(Self.page))
  }
}

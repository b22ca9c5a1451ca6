import LocalServices
import Redis
import Store
import Testing

@testable import Chaos

@Suite("bindings of the fault matrix")
struct BindingRowTests {
  /// What stands in Functions/Installations/installations.lua, once, and what is put in its place.
  struct Fault: Sendable, CustomTestStringConvertible {
    let name: String
    let original: String
    let replacement: String

    var testDescription: String { name }
  }

  private static let faults = [
    Fault(
      name: "a verdict removes whatever the user has",
      original: "if r[1] ~= user or r[2] ~= generation then return 'stale' end",
      replacement: "if r[1] ~= user then return 'stale' end"),
    Fault(
      name: "a verdict removes what was installed after the token's death",
      original:
        "if since ~= '' and (not updated or tonumber(since) < updated) then return 'stale' end",
      replacement: ""),
    Fault(
      name: "a former owner keeps the token",
      original: "unbind(p, app, old[1], old_lines, old[6], allowance)",
      replacement: ""),
    Fault(
      name: "an owner uninstalls what is another's",
      original: "if not user or owner ~= '' and owner ~= user then",
      replacement: "if not user then"),
  ]

  private static func trial(_ scale: Double) throws -> Trial {
    Trial(
      programs: try ChaosPrograms(), row: 7, seed: 1, scale: scale, soakMinutes: 1,
      progress: ProgressLine(isQuiet: true))
  }

  @Test("a fault in the functions that bind tokens does not escape the row", arguments: faults)
  func seesFault(_ fault: Fault) async throws {
    let sound = StoreLibrary.library
    let parts = sound.source.split(separator: fault.original, omittingEmptySubsequences: false)
    try #require(parts.count == 2, "\"\(fault.name)\" no longer applies")
    var row = BindingRow()
    row.library = FunctionLibrary(
      name: "pushpool", version: sound.version, template: parts.joined(separator: fault.replacement)
    )
    let result = try await row.run(try Self.trial(0.01))
    #expect(!result.isPassed, "nobody noticed")
  }

  @Test("operations at once are explained by the order that they can have had, and by no other")
  func explains() {
    let model = BindingModel(
      binding: BindingModel.Binding(user: "a", generation: 7, updatedAtMs: 100))
    let verdict = BindingModel.Verdict(user: "a", generation: 7, sinceMs: nil)
    let operations: [BindingModel.Operation] = [.install(user: "b"), .invalidate(verdict)]
    let end = BindingModel.Binding(user: "b", generation: 8, updatedAtMs: 200)
    func isExplained(
      _ first: BindingModel.Answer, _ second: BindingModel.Answer, _ end: BindingModel.Binding?
    )
      -> Bool
    { model.explains(operations, [first, second], end: end) }
    // Verdict first, then the install, or the other way round.
    #expect(isExplained(.installed(.created, previousUser: ""), .removal(.removed), end))
    #expect(isExplained(.installed(.moved, previousUser: "a"), .removal(.stale), end))
    // Both say that they found a's binding.
    #expect(!isExplained(.installed(.moved, previousUser: "a"), .removal(.removed), end))
    // The new binding is gone.
    #expect(!isExplained(.installed(.moved, previousUser: "a"), .removal(.stale), nil))
  }
}

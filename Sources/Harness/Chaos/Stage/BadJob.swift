import Glibc
import LocalServices

/// A job of the corpus in Tests/Programs/EndToEndTests/BadJobs, and how it is to be refused.
struct BadJob: Sendable {
  let name: String
  /// The beginning of the refused field's pointer.
  let field: String
  /// A phrase that the sentence holds.
  let phrase: String
  let bytes: [UInt8]

  private static let folder = "Tests/Programs/EndToEndTests/BadJobs"
  /// Where a build keeps its copy, beside the programs.
  private static let copy = "pushpool-workers_EndToEndTests.resources/BadJobs"

  /// Reads expected.tsv, which names each file, the field at fault, and words of the sentence.
  /// - Throws: `ChaosError` when the corpus is not to be found from here.
  static func corpus() throws -> [BadJob] {
    let beside = try BuiltProgram.folder()
    let places = [folder, "\(beside)/\(copy)", "\(beside)/../../../\(folder)"]
    for place in places {
      guard
        let table = TextFile.read(
          "\(place)/expected.tsv", bytesMax: ChaosLimits.textBytesMax)
      else { continue }
      return try table.split(separator: "\n").map { line in
        let cells = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        let file = "\(place)/\(cells[0]).json"
        guard cells.count == 3, let bytes = TextFile.bytes(file, bytesMax: ChaosLimits.textBytesMax)
        else {
          throw ChaosError("\(file), which \(place)/expected.tsv names, cannot be read")
        }
        return BadJob(name: cells[0], field: cells[1], phrase: cells[2], bytes: bytes)
      }
    }
    throw ChaosError("\(folder) is not here: run it in the folder of the sources, or `make test`")
  }
}

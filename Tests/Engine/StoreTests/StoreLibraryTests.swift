import Foundation
import Redis
import Testing

@testable import Store

@Suite struct StoreLibraryTests {
  /// Lua allows a chunk 200 local variables: a library that has used them up does not load.
  private static let sparedLocals = 100

  @Test func `the functions leave room for many more local variables than they use`() async throws {
    try await Lane.withStore { _, store in
      let sound = StoreLibrary.library
      let lines = sound.source.split(
        separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
      let padding = (1...Self.sparedLocals).map { "local spare_\($0) = \($0)\n" }.joined()
      let padded =
        "\(lines[0])_padded\n\(padding)" + lines[1].replacing(sound.version, with: "padded")
      let reply = try await store.connection.call(RedisCommand("FUNCTION", "LOAD", padded)) {
        RESPValue($0)
      }
      #expect(reply.string == "\(sound.name)_padded")
    }
  }

  @Test func `every file of the functions' folder is part of the library`() throws {
    let folder = URL(filePath: #filePath)
      .appending(path: "../../../../Sources/Engine/Store/Functions").standardizedFileURL
    let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?
      .compactMap { $0 as? URL }.filter { $0.pathExtension == "lua" }
    #expect(try #require(files).count > 10)
    for file in try #require(files) {
      let text = try String(contentsOf: file, encoding: .utf8)
        .replacing("@VERSION@", with: StoreLibrary.library.version)
      #expect(StoreLibrary.library.source.contains(text), "\(file.lastPathComponent)")
    }
  }
}

import Configuration
import HTTPClient
import Logging
import Model
import Providers
import Testing

@testable import Worker

@Suite struct CurlCheckTests {
  @Test("libcurl's resets are warned of where a network accepts without a body, and nowhere else")
  func warns() throws {
    let lines = LogLines()
    let others = ProviderDirectory(entries: [
      ProviderDirectory.Entry(
        app: "shop", environments: Set(PushEnvironment.allCases),
        provider: try TestBatchNetwork(transport: .curl), limits: [])
    ])
    try WorkerService.checkCurl(others, lines.logger)
    #expect(!lines.has(.warning, "resets every stream"))
    try WorkerService.checkCurl(try TestDirectory.of(.production, transport: .curl), lines.logger)
    #expect(lines.has(.warning, "resets every stream") == CurlLibrary.hasResetDefect)
  }
}

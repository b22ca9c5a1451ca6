import HTTPClient
import Testing

@Suite("The linked libcurl") struct CurlLibraryTests {
  @Test("has the reset defect before 8.0")
  func resetDefect() {
    #expect(CurlLibrary.hasResetDefect(versionNumber: 0x075801))
    #expect(!CurlLibrary.hasResetDefect(versionNumber: 0x080000))
    #expect(CurlLibrary.hasResetDefect == (CurlLibrary.version.first == "7"))
  }

  @Test("is fit to carry pushes")
  func fitness() {
    #expect(CurlLibrary.unfitness == nil)
  }
}

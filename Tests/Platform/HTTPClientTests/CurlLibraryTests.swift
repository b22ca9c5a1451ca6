import HTTPClient
import Testing

@Suite("The linked libcurl") struct CurlLibraryTests {
  @Test("is fit to carry pushes")
  func fitness() {
    #expect(CurlLibrary.unfitness == nil)
  }
}

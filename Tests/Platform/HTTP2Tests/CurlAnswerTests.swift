import HTTP2
import Testing

@testable import CurlTransport

@Suite struct CurlAnswerTests {
  private func answer(_ lines: String...) -> CurlAnswer {
    var answer = CurlAnswer()
    for line in lines { Array("\(line)\r\n".utf8).withUnsafeBytes { answer.note($0) } }
    return answer
  }

  @Test("an interim answer says nothing of the one that follows")
  func forgetsInterim() {
    let answer = answer(
      "HTTP/1.1 103 Early Hints", "Content-Type: text/html", "", "HTTP/2 503",
      "Content-TYPE:  application/json; charset=utf-8 ", "retry-after: 7")
    #expect(answer.status == 503)
    #expect(answer.type == Array(ContentType.json))
    #expect(answer.retryAfter.seconds(nowMs: 0) == 7)
  }

  @Test("an odd type is kept as it came, without the blanks around it")
  func keepsOddType() {
    #expect(answer("HTTP/2 200", "content-type: \ttext/html \t").type == Array("text/html".utf8))
    #expect(answer("HTTP/2 200", "content-type:  ").type.isEmpty)
    #expect(answer("HTTP/2 200").type.isEmpty)
  }

  @Test("a body is kept up to the bound, and the rest is refused")
  func boundsBody() {
    var answer = answer("HTTP/2 200")
    let most = HTTP2Limits.answerBodyBytesMax
    let isWanted = [UInt8](repeating: 97, count: most).withUnsafeBytes { answer.append($0) }
    #expect(isWanted && !answer.isCut)
    let isMoreWanted = [UInt8](repeating: 98, count: 1).withUnsafeBytes { answer.append($0) }
    #expect(!isMoreWanted && answer.isCut)
    #expect(answer.body.count == most)
  }
}

import Testing

@testable import Simulator

@Suite struct AnswerHeadsTests {
  @Test("one head serves all answers that are alike, and what would be too many kinds has none")
  func keepsSoMany() {
    var heads = AnswerHeads()
    func answer(_ seconds: Int?) -> Answer {
      Answer(status: 503, body: Array("{}".utf8), retryAfterSeconds: seconds)
    }
    let bare = heads.head(of: Answer(status: 503))
    #expect(bare != nil && bare === heads.head(of: Answer(status: 503)))
    for seconds in 1..<SimulatorLimits.preparedHeadsMax {
      #expect(heads.head(of: answer(seconds)) === heads.head(of: answer(seconds)))
    }
    #expect(heads.head(of: answer(1)) !== heads.head(of: answer(2)))
    #expect(heads.head(of: answer(nil)) == nil)
    #expect(heads.head(of: answer(1)) != nil)
    var limited = Answer(status: 503)
    limited.rateStanding = RateStanding(limit: 600, remaining: 1, resetSeconds: 2)
    #expect(heads.head(of: limited) == nil)
  }

  @Test("a head says when to come again, and whose request it answers")
  func namesFields() {
    let answer = Answer(status: 429, body: Array("{}".utf8), retryAfterSeconds: 7)
    let fields = AnswerHeads.fields(of: answer, id: "an-id")
    #expect(fields.map(\.name) == ["content-type", "apns-id", "retry-after"])
    #expect(fields.map(\.value).suffix(2) == ["an-id", "7"])
    #expect(AnswerHeads.fields(of: Answer(status: 503)).isEmpty)
  }

  @Test("an answer says the type that it is told to, with a body or without")
  func namesType() {
    var heads = AnswerHeads()
    for body in ["", "<html>"] {
      var page = Answer(status: 200, body: Array(body.utf8))
      let usual = heads.head(of: page)
      page.contentType = "text/html"
      #expect(heads.head(of: page) !== usual)
      let fields = AnswerHeads.fields(of: page)
      #expect(fields.map(\.name) == ["content-type"] && fields[0].value == "text/html")
    }
  }
}

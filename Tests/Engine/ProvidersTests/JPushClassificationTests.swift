import Model
import Testing

@testable import Providers

@Suite("Answers of JPush")
struct JPushClassificationTests {
  @Test("200 is accepted")
  func accepted() throws {
    #expect(try classify(200, #"{"sendno":"0","msg_id":"1828256757"}"#) == .accepted)
  }

  @Test(
    "a 200 without the id of a message is no accept",
    arguments: [#""""#, "0", #""0""#, #""000""#, #"" ""#, "null", "{}", "true"])
  func noMessage(id: String) throws {
    let body = #"{"sendno":"0","msg_id":\#(id)}"#
    guard case .foreign = try classify(200, body) else {
      Issue.record("it counts as an accept")
      return
    }
    // Of the check of a request JPush does not say what it answers.
    let checked = try Array(body.utf8).withUnsafeBytes {
      try TestProvider.jpush().classify(
        ProviderAnswer(status: 200, retryAfterSeconds: nil, body: $0, isDryRun: true))
    }
    #expect(checked == .accepted)
  }

  @Test("the id of a message is a number or its digits", arguments: ["1", #""10""#, "1828256757"])
  func message(id: String) throws {
    #expect(try classify(200, #"{"sendno":"0","msg_id":\#(id)}"#) == .accepted)
  }

  @Test("a complaint with a 200 is no accept, though it has the id of a message")
  func complaint() throws {
    let body = #"{"msg_id":1828256757,"error":{"code":1008,"message":"app_key is invalid"}}"#
    guard case .foreign = try classify(200, body) else {
      Issue.record("it counts as an accept")
      return
    }
  }

  // As in jpush-api-java-client#179 and #165: an ID of another app key gets the same answers.
  @Test("an ID without a target, or one that is called invalid, is doubtful")
  func doubtful() throws {
    #expect(
      try classify(
        400, error(1011, "cannot find user by this audience or has been inactive for more than 255")
      )
        == .doubtfulToken(reason: "1011 no such target"))
    #expect(
      try classify(400, error(1003, "The registration_id 140fe1da9e22a23f92f is invalid!"))
        == .doubtfulToken(reason: "1003 registration ID is invalid"))
  }

  @Test(
    "an answer that blames another ID than the one that was sent to rejects the push, and removes nobody"
  )
  func blamesAnother() throws {
    func classification(_ body: String, of token: String) throws -> Classification {
      let provider = try TestProvider.jpush()
      return Array(body.utf8).withUnsafeBytes { body in
        Array(token.utf8).withUnsafeBytes { token in
          provider.classify(
            ProviderAnswer(status: 400, retryAfterSeconds: nil, body: body), of: token)
        }
      }
    }
    let blaming = error(1003, "The registration_id 140fe1da9e2 is invalid!")
    #expect(
      try classification(blaming, of: "140fe1da9e2")
        == .doubtfulToken(reason: "1003 registration ID is invalid"))
    #expect(
      try classification(blaming, of: "140fe1da9e3")
        == .rejected(reason: "1003 another registration ID is invalid"))
    // It names none.
    #expect(
      try classification(error(1011, "no"), of: "140fe1da9e3")
        == .doubtfulToken(reason: "1011 no such target"))
  }

  @Test(
    "what is wrong with the message is rejected",
    arguments: [
      (400, 1002), (400, 1003), (400, 1005), (400, 1009), (400, 1012), (403, 2005), (403, 2006),
      (405, 1001),
    ])
  func rejected(status: Int, code: Int) throws {
    let classification = try classify(status, error(code, "override_msg_id 17 does not exist"))
    #expect(
      classification == .rejected(reason: try #require(JPushErrorCode(rawValue: code)).reason))
  }

  @Test(
    "a secret, an app key or an address that JPush refuses is our credential",
    arguments: [(401, 1004), (400, 1008), (403, 2003), (403, 2004), (403, 2007)])
  func authRefused(status: Int, code: Int) throws {
    let classification = try classify(status, error(code, "Authen failed"))
    #expect(
      classification == .authRefused(reason: try #require(JPushErrorCode(rawValue: code)).reason))
  }

  @Test("that an app may not have requests checked says nothing of those that it sends")
  func dryRun() throws {
    let provider = try TestProvider.jpush()
    func classification(_ status: Int, _ code: Int) -> Classification {
      Array(error(code, "x").utf8).withUnsafeBytes {
        provider.classify(
          ProviderAnswer(status: status, retryAfterSeconds: nil, body: $0, isDryRun: true))
      }
    }
    #expect(classification(403, 2007) == .rejected(reason: "2007 interface is not allowed"))
    // These are about the app key itself.
    for (status, code) in [(401, 1004), (400, 1008), (403, 2003), (403, 2004)] {
      let reason = try #require(JPushErrorCode(rawValue: code)).reason
      #expect(classification(status, code) == .authRefused(reason: reason))
    }
  }

  @Test("a quota that is used up waits until it is renewed, or a minute")
  func throttled() throws {
    let body = error(2002, "Rate limit exceeded")
    #expect(
      try classify(429, body, retryAfterSeconds: 17)
        == .retry(afterMs: 17_000, reason: "2002 rate limit exceeded"))
    #expect(
      try classify(429, body) == .retry(afterMs: 60_000, reason: "2002 rate limit exceeded"))
    #expect(try classify(429, "") == .retry(afterMs: 60_000, reason: "status 429"))
  }

  @Test("trouble is tried again", arguments: [(500, 1000), (503, 1030)])
  func trouble(status: Int, code: Int) throws {
    let classification = try classify(status, error(code, "x"), retryAfterSeconds: 2)
    let reason = try #require(JPushErrorCode(rawValue: code)).reason
    #expect(classification == .retry(afterMs: 2_000, reason: reason))
    #expect(try TestProvider.jpush().sign(of: classification, status: status) == .trouble)
  }

  @Test("a code with a status that it does not come with decides nothing")
  func misplaced() throws {
    #expect(
      try classify(404, error(1011, "x"))
        == .rejected(reason: "1011 no such target with status 404"))
    #expect(
      try classify(403, error(1004, "x"))
        == .retry(afterMs: nil, reason: "1004 authentication failed with status 403"))
  }

  @Test("a code that is not documented goes by its status, and its text shows no token")
  func unknownCode() throws {
    #expect(
      try classify(400, error(1099, "bad 140fe1da9e22a23f92f"))
        == .rejected(reason: "1099 bad […]"))
    #expect(
      try classify(400, error(1099, "registration_id 0900e8d85ef is blocked"))
        == .rejected(reason: "1099 registration_id […] is blocked"))
    #expect(try classify(503, error(1099, "x")) == .retry(afterMs: nil, reason: "1099 x"))
  }

  @Test(
    "an answer that is not JPush's accepts, rejects and removes nothing, and pauses nothing",
    arguments: [200, 204, 302, 400, 401, 403, 404, 410, 502])
  func foreign(status: Int) throws {
    for body in ["", "<html>", #"{"error":{"code":1011}}"#, #"{"error":{"code":11,"message":""}}"#]
    {
      switch try classify(status, body) {
      case .foreign(let reason):
        #expect(status != 502)
        #expect(reason.hasPrefix("status \(status) that is not JPush's"))
      case .retry: #expect(status == 502)
      case let other: Issue.record("\(status) \(body) counts as JPush's own: \(other)")
      }
    }
  }

  @Test("a 200 is accepted for the id of its message, and a dry run for want of an error")
  func accepts() throws {
    #expect(try classify(200, #"{"sendno":"0","msg_id":"18100287008546151"}"#) == .accepted)
    #expect(try classify(200, #"{"msg_id":18100287008546151}"#) == .accepted)
    let provider = try TestProvider.jpush()
    func rehearse(_ body: String) -> Classification {
      Array(body.utf8).withUnsafeBytes {
        provider.classify(
          ProviderAnswer(status: 200, retryAfterSeconds: nil, body: $0, isDryRun: true))
      }
    }
    #expect(rehearse("{}") == .accepted)
    guard case .foreign = rehearse("<html>"), case .foreign = rehearse(#"{"error":7}"#) else {
      Issue.record("a dry run is answered by somebody else")
      return
    }
  }

  @Test("a token that is doubted is a sign of a mistake of ours, an accepted one of nothing")
  func signs() throws {
    let provider = try TestProvider.jpush()
    #expect(provider.sign(of: .doubtfulToken(reason: "x"), status: 400) == .misfit)
    #expect(provider.sign(of: .rejected(reason: "x"), status: 400) == .none)
    // Nothing would get through a gateway that takes TLS away from JPush.
    let plain = try classify(404, error(1020, "x"))
    #expect(plain == .retry(afterMs: nil, reason: "1020 only HTTPS is allowed"))
    #expect(provider.sign(of: plain, status: 404) == .trouble)
  }

  @Test("an answer to several is about all of them, and one that doubts an ID is split")
  func several() throws {
    let provider = try TestProvider.jpush()
    func classification(_ status: Int, _ body: String, pushes: Int = 2) -> BatchClassification {
      Array(body.utf8).withUnsafeBytes {
        provider.classify(
          ProviderAnswer(status: status, retryAfterSeconds: nil, body: $0), pushes: pushes)
      }
    }
    #expect(classification(200, #"{"msg_id":"1"}"#) == .all(.accepted))
    #expect(
      classification(400, error(1009, "x"))
        == .all(.rejected(reason: "1009 a key is not supported")))
    #expect(classification(400, error(1011, "x")) == .split(reason: "1011 no such target"))
    #expect(
      classification(400, error(1011, "x"), pushes: 64) == .split(reason: "1011 no such target"))
    #expect(
      classification(400, error(1003, "The registration_id a is invalid!"), pushes: 1_000)
        == .split(reason: "1003 registration ID is invalid", token: "a"))
    #expect(
      classification(400, error(1003, "invalid registration_id"))
        == .split(reason: "1003 registration ID is invalid"))
    // More than happens by accident.
    let mistake = Classification.rejected(reason: "1011 no such target")
    #expect(classification(400, error(1011, "x"), pushes: 65) == .all(mistake))
    #expect(provider.sign(of: mistake, status: 400) == .misfit)
  }

  private func error(_ code: Int, _ message: String) -> String {
    #"{"msg_id":1309530630,"error":{"code":\#(code),"message":"\#(message)"}}"#
  }

  private func classify(
    _ status: Int, _ body: String, retryAfterSeconds: Int? = nil
  ) throws -> Classification {
    try TestProvider.jpush().classify(status, body, retryAfterSeconds: retryAfterSeconds)
  }
}

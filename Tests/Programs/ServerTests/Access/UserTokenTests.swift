import Model
import Operations
import Reactor
import Testing
import TestSupport

@testable import Server

/// User tokens: what is taken, and all that is refused.
@Suite struct UserTokenTests {
  private static let nowMs: Int64 = 1_790_000_000_000
  private static let now = nowMs / 1_000

  private static func claims(
    sub: String = #""u1""#, aud: String = #""shop""#, exp: String = "\(now + 3_600)",
    more: String = ""
  ) -> String {
    #"{"sub":\#(sub),"aud":\#(aud),"exp":\#(exp)\#(more)}"#
  }

  private static func key(
    _ app: String = "shop", secret: String = SignedText.secret, keyID: String? = nil
  ) throws -> UserTokenKey {
    try UserTokenKey(
      app: app, algorithm: .hs256, content: Array(secret.utf8), file: "shop.key", keyID: keyID)
  }

  /// Nil when the token is taken.
  private static func fault(_ token: String, _ keys: [UserTokenKey]) -> UserTokenFault? {
    do throws(UserTokenFault) {
      try UserToken(token, keys: keys).check(nowMs: nowMs)
      return nil
    } catch {
      return error
    }
  }

  @Test("a token of either algorithm names its app and its user")
  func taken() throws {
    let pair = try SignedText.Pair()
    let keys = [
      try Self.key(),
      try UserTokenKey(
        app: "blog", algorithm: .es256, content: pair.publicPEM, file: "blog.pem"),
    ]
    let shop = try UserToken(
      try SignedText.hs256(Self.claims()), keys: keys)
    #expect(shop.app == "shop" && shop.user == "u1")
    let blog = try UserToken(
      try pair.es256(Self.claims(aud: #"["other","blog"]"#)), keys: keys)
    #expect(blog.app == "blog" && blog.user == "u1")
  }

  @Test("a token that Python's hmac makes is taken")
  func python() throws {
    // python3 -c with hmac, hashlib and base64 alone; exp is 1790003600.
    let token =
      "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJ1MSIsImF1ZCI6InNob3AiLCJleHAiOjE3OTAwMDM2MDB9."
      + "kniNYLlAzicwtSrX77G84ftcxB7khTSkxQg7HWm_ip8"
    #expect(Self.fault(token, [try Self.key()]) == nil)
  }

  @Test("instants are kept to, with a minute for clocks that differ")
  func instants() throws {
    let keys = [try Self.key()]
    let now = Self.now
    for (claims, fault) in [
      (Self.claims(exp: "\(now)"), UserTokenFault.ended), (Self.claims(exp: "\(now - 1)"), .ended),
      (Self.claims(exp: "\(now + 1)"), nil), (Self.claims(exp: "\(now + 1).5"), nil),
      (Self.claims(exp: "\(now + 86_400)"), nil), (Self.claims(exp: "\(now + 86_460)"), nil),
      (Self.claims(exp: "\(now + 86_461)"), .endsLate), (Self.claims(exp: "1e300"), .endsLate),
      (Self.claims(exp: #""soon""#), .badInstant), (Self.claims(exp: "-1"), .badInstant),
      (Self.claims(exp: "null"), .badInstant), (#"{"sub":"u1","aud":"shop"}"#, .noEnd),
      (Self.claims(more: #","nbf":\#(now + 60)"#), nil),
      (Self.claims(more: #","nbf":\#(now + 61)"#), .notYet),
      (Self.claims(more: #","iat":\#(now + 60),"nbf":1"#), nil),
      (Self.claims(more: #","iat":\#(now + 61)"#), .issuedAhead),
      (Self.claims(more: #","iat":true"#), .badInstant),
    ] as [(String, UserTokenFault?)] {
      #expect(Self.fault(try SignedText.hs256(claims), keys) == fault, "\(claims)")
    }
  }

  @Test("a token that is not signed, or by another algorithm, is refused")
  func algorithms() throws {
    let keys = [try Self.key()]
    for name in ["none", "None", "NONE", "nOnE"] {
      let message = SignedText.message(#"{"alg":"\#(name)"}"#, Self.claims())
      #expect(Self.fault("\(message).", keys) == .unsigned, "\(name)")
      let signed = try SignedText.hs256(Self.claims(), header: #"{"alg":"\#(name)"}"#)
      #expect(Self.fault(signed, keys) == .unsigned, "\(name)")
    }
    for header in [
      #"{"alg":"RS256"}"#, #"{"alg":"HS512"}"#, #"{"alg":"hs256"}"#, #"{"alg":"ES384"}"#, "{}",
      #"{"alg":["HS256"]}"#, #"{"alg":""}"#,
    ] {
      let token = try SignedText.hs256(Self.claims(), header: header)
      #expect(Self.fault(token, keys) == .otherAlgorithm, "\(header)")
    }
    let critical = try SignedText.hs256(
      Self.claims(), header: #"{"alg":"HS256","crit":["b64"],"b64":false}"#)
    #expect(Self.fault(critical, keys) == .critical)
  }

  @Test("a public key is never taken for the secret of an HMAC")
  func confusion() throws {
    let pair = try SignedText.Pair()
    let keys = [
      try UserTokenKey(app: "shop", algorithm: .es256, content: pair.publicPEM, file: "shop.pem")
    ]
    #expect(Self.fault(try pair.es256(Self.claims()), keys) == nil)
    for secret in [pair.publicPEM, Array(pair.publicPEM.dropLast())] {
      for algorithm in ["HS256", "ES256"] {
        let token = try SignedText.hs256(
          Self.claims(), header: #"{"alg":"\#(algorithm)"}"#, secret: secret)
        #expect(Self.fault(token, keys) == .signature, "\(algorithm)")
      }
    }
    // Nor is a signature of the right key taken under another name.
    let renamed = try pair.es256(Self.claims(), header: #"{"alg":"HS256"}"#)
    #expect(Self.fault(renamed, keys) == .signature)
  }

  @Test("a token of another key, of another app or of no app is refused")
  func apps() throws {
    let keys = [
      try Self.key(), try Self.key("blog", secret: "fedcba9876543210fedcba9876543210"),
    ]
    let foreign = Array("ffffffffffffffffffffffffffffffff".utf8)
    #expect(Self.fault(try SignedText.hs256(Self.claims(), secret: foreign), keys) == .signature)
    // The shop's key signs for the shop alone.
    #expect(
      Self.fault(try SignedText.hs256(Self.claims(aud: #""blog""#)), keys) == .signature)
    #expect(
      Self.fault(try SignedText.hs256(Self.claims(aud: #""no-such-app""#)), keys) == .signature)
    for aud in ["[]", "null", "7", #"[7]"#, "{}"] {
      #expect(Self.fault(try SignedText.hs256(Self.claims(aud: aud)), keys) == .noApp, "\(aud)")
    }
    #expect(Self.fault(try SignedText.hs256(Self.claims()), []) == .signature)
  }

  @Test("the user stands in sub, as a user of an installation")
  func users() throws {
    let keys = [try Self.key()]
    for sub in ["null", #""""#, "7", #""a\u0000b""#, #""\#(String(repeating: "x", count: 257))""#] {
      #expect(Self.fault(try SignedText.hs256(Self.claims(sub: sub)), keys) == .noUser, "\(sub)")
    }
    #expect(Self.fault(try SignedText.hs256(Self.claims(sub: #""ü 1""#)), keys) == nil)
  }

  @Test("a token that was changed anywhere is refused")
  func tampered() throws {
    let keys = [try Self.key()]
    let token = Array(try SignedText.hs256(Self.claims()).utf8)
    for position in token.indices where token[position] != UInt8(ascii: ".") {
      var changed = token
      changed[position] =
        token[position] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
      #expect(
        Self.fault(String(decoding: changed, as: UTF8.self), keys) != nil, "byte \(position)")
    }
    for count in 0..<token.count {
      let short = String(decoding: token.prefix(count), as: UTF8.self)
      #expect(Self.fault(short, keys) != nil, "\(count) bytes")
    }
  }

  @Test("what is no token, or too long, is refused")
  func malformed() throws {
    let keys = [try Self.key()]
    let token = try SignedText.hs256(Self.claims())
    for text in [
      "", ".", "..", "...", "a.b.c", token + ".", token + "=", "." + token, token + ".e30",
      token.replacing(".", with: ".."), "e30.e30.", "W10.e30.AA",
    ] {
      let fault = Self.fault(text, keys)
      #expect(fault == .malformed || fault == .otherAlgorithm, "\(text): \(fault as Any)")
    }
    let long = Self.claims(more: #","x":"\#(String(repeating: "x", count: 4_096))""#)
    #expect(Self.fault(try SignedText.hs256(long), keys) == .tooLong)
    let deep = Self.claims(more: #","x":[[[[[[[[[[]]]]]]]]]]"#)
    #expect(Self.fault(try SignedText.hs256(deep), keys) == .malformed)
    let twice = Self.claims(more: #","sub":"u2""#)
    #expect(Self.fault(try SignedText.hs256(twice), keys) == .malformed)
  }

  @Test("kid tells the keys of an app apart while one takes the place of the other")
  func rotation() throws {
    let old = try Self.key(keyID: "old")
    let new = try Self.key(secret: "fedcba9876543210fedcba9876543210", keyID: "new")
    let secret = Array("fedcba9876543210fedcba9876543210".utf8)
    func token(_ header: String) throws -> String {
      try SignedText.hs256(Self.claims(), header: header, secret: secret)
    }
    #expect(Self.fault(try token(#"{"alg":"HS256","kid":"new"}"#), [old, new]) == nil)
    #expect(Self.fault(try token(#"{"alg":"HS256"}"#), [old, new]) == nil)
    #expect(Self.fault(try token(#"{"alg":"HS256","kid":"old"}"#), [old, new]) == .signature)
    #expect(Self.fault(try token(#"{"alg":"HS256","kid":"new"}"#), [old]) == .signature)
  }

  @Test("a key file of the wrong kind is refused with what to do")
  func keyFiles() throws {
    let pair = try SignedText.Pair()
    let rsa = try OpenSSLCommand.run("genrsa", "2048")
    let rsaPublic = Array(try OpenSSLCommand.run("pkey", "-pubout", input: rsa))
    let other = try OpenSSLCommand.run(
      "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384")
    let otherPublic = Array(try OpenSSLCommand.run("pkey", "-pubout", input: other))
    for (algorithm, content, words) in [
      (UserTokenKey.Algorithm.hs256, Array("short\n".utf8), "at least 32"),
      (.hs256, pair.publicPEM, "HS256 takes a secret text"),
      (.es256, Array(SignedText.secret.utf8), "-pubout"), (.es256, rsaPublic, "another kind"),
      (.es256, otherPublic, "another kind"), (.es256, Array(other), "private key"),
      (.es256, pair.publicPEM + otherPublic, "not one public key"),
    ] {
      let error = try #require(throws: CredentialFileError.self) {
        try UserTokenKey(app: "shop", algorithm: algorithm, content: content, file: "k")
      }
      #expect(error.description.contains(words), "\(error)")
      #expect(!error.description.contains(SignedText.secret))
    }
    // Editors add the end of a line.
    let key = try Self.key(secret: SignedText.secret + "\r\n")
    #expect(Self.fault(try SignedText.hs256(Self.claims()), [key]) == nil)
  }

  @Test("each reason to refuse a token is a sentence of its own")
  func sentences() {
    let sentences = UserTokenFault.allCases.map(\.description)
    #expect(Set(sentences).count == sentences.count)
    #expect(sentences.allSatisfy { $0.count > 20 })
  }

  @Test("a fault that only the backend can make is told from one that anybody can")
  func forgeable() {
    let own: [UserTokenFault] = [
      .noEnd, .ended, .endsLate, .notYet, .issuedAhead, .badInstant, .noUser,
    ]
    for fault in UserTokenFault.allCases {
      #expect(fault.isForgeable != own.contains(fault), "\(fault)")
    }
  }

  @Test("what was verified is remembered for a minute at most, and no more of it than there may be")
  func remembering() throws {
    let stage = try AccessStage()
    let verified = VerifiedTokens(clock: stage.clock, tokensMax: 10)
    let texts = try (0..<100).map { number in
      try SignedText.hs256(Self.claims(sub: #""u\#(number)""#))
    }
    func remember(_ number: Int) throws {
      verified.remember(try UserToken(texts[number], keys: [Self.key()]), as: texts[number])
    }
    try remember(0)
    #expect(verified.recall(texts[0])?.user == "u0")
    #expect(verified.recall(texts[1]) == nil)
    #expect(verified.recall(String(texts[0].dropLast())) == nil)
    stage.pass(ms: 29_999)
    #expect(verified.recall(texts[0])?.user == "u0")
    stage.pass(ms: 30_001)
    #expect(verified.recall(texts[0]) == nil)
    for number in texts.indices { try remember(number) }
    let known = texts.count { verified.recall($0) != nil }
    #expect((5...10).contains(known))
    #expect(verified.recall(texts[99])?.user == "u99")
  }
}

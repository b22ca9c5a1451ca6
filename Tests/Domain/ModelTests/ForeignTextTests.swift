import Testing

@testable import Model

@Suite("Text of others in logs")
struct ForeignTextTests {
  @Test(
    "words pass as they are",
    arguments: [
      "", "BadDeviceToken", "SENDER_ID_MISMATCH", "TooManyProviderTokenUpdates",
      "message.android.notification.title", "RESOURCE_EXHAUSTED", "Invalid JWT Signature.",
      #"{"reason":"Shutdown"}"#, "GOAWAY 11: too_many_pings", "status 503", "é",
      "https://firebase.google.com/docs/cloud-messaging/send-message", "nginx/1.18.0 (Ubuntu)",
      "type.googleapis.com/google.firebase.fcm.v1.FcmError", "10.0.12.127:8443: reset",
      "2026-10-08T12:00:00Z", "2026-10-08T12:00:00.123+02:00", "Retry-After: 30",
    ])
  func words(text: String) {
    #expect(ForeignText.printable(text) == text)
  }

  @Test("tokens are left out, wherever they stand")
  func tokens() {
    let device = "740f4707bebcf74f9b7c25d48e3358945f6aa01da5ddb387462c7eaf61bb78ad"
    let jwt =
      "eyJhbGciOiJFUzI1NiIsImtpZCI6IkFCQzEyMyJ9.eyJpc3MiOiJERUYxMjMifQ.c2lnbmF0dXJlc2lnbmF0"
    let fcm = "bk3RNwTe3H0:CI2k_HHwgIpoDKCIZvvDMExUdFQ3P1"
    for text in [
      "bad token \(device)", "{\"reason\":\"\(jwt)\"}", "authorization: bearer \(jwt)", device,
      "Token\(device)", "x\n\(fcm)", "\(String(repeating: "long ", count: 10))\(device)",
    ] {
      let shown = ForeignText.printable(text, bytesMax: 300)
      for secret in [device, jwt, fcm] {
        for start in stride(from: 0, to: secret.count - 16, by: 4) {
          let from = secret.index(secret.startIndex, offsetBy: start)
          let piece = secret[from..<secret.index(from, offsetBy: 16)]
          #expect(!shown.contains(piece), "\(piece) of \(text)")
        }
      }
      #expect(shown.contains("[…]"))
    }
  }

  @Test("of a token with many marks no piece is left", arguments: [".", "-", ":", ".-", "%", "~_"])
  func tokensWithMarks(mark: String) {
    let token = "dK3fQ9zLw2XbT7mPaR4cVe8sYh1NgU6jB5ktQxZ0oIrWCnHyEl"
    for length in 1...12 {
      var pieces: [String] = []
      var rest = token[...]
      while !rest.isEmpty {
        pieces.append(String(rest.prefix(length)))
        rest = rest.dropFirst(length)
      }
      let marked = pieces.joined(separator: mark)
      #expect(ForeignText.printable(marked) == "[…]", "\(marked)")
      #expect(ForeignText.printable("token \(marked) is bad") == "token […] is bad")
      // It is judged as a whole though its end is behind the bound.
      let long = Array(repeating: marked, count: 40).joined(separator: mark)
      #expect(ForeignText.printable("token \(long)") == "token […]")
    }
  }

  @Test("it is cut, and holds no control characters")
  func bounds() {
    let shown = ForeignText.printable(
      "\u{1b}[31m" + String(repeating: "no no ", count: 3_000))
    #expect(shown.utf8.count < Limits.quotedTextBytesMax + 20)
    #expect(!shown.utf8.contains(0x1b))
    #expect(shown.hasSuffix("…"))
    #expect(ForeignText.printable(String(repeating: "z", count: 16_000)) == "[…]")
    let dotted = ForeignText.printable(String(repeating: "no.", count: 3_000))
    #expect(dotted.utf8.count == Limits.quotedTextBytesMax + 3 && dotted.hasSuffix("…"))
  }
}

import HTTP2Server
import HTTP2
import Testing
import TestSupport

@Suite("The form of an accept")
struct AcceptedFormTests {
  private let form = AcceptedForm.object(firstMember: "name", beginning: "projects/")

  @Test(
    "is an object whose first member has the name and is a text that begins rightly",
    arguments: [
      #"{"name":"projects/p/messages/1"}"#, "{\n  \"name\": \"projects/p\"\n}\n",
      " \t{ \"name\" : \"projects/",
    ])
  func recognised(body: String) {
    #expect(Array(body.utf8).withUnsafeBytes { form.isRecognised($0) })
  }

  @Test(
    "is nothing else, and no beginning of it",
    arguments: [
      "", "{", "{}", "[]", #"{"name"#, #"{"name""#, #"{"name":"#, #"{"name":7}"#, #"{"nameX":"a"}"#,
      #"{"other":1,"name":"projects/p"}"#, "<html>", #"["name":"projects/p"]"#,
      #""name":"projects/p""#, #"{"name":""}"#, #"{"name":"Guest WiFi"}"#, #"{"name":"project"#,
      String(repeating: " ", count: 300) + #"{"name":"projects/p"}"#,
    ])
  func foreign(body: String) {
    #expect(!Array(body.utf8).withUnsafeBytes { form.isRecognised($0) })
  }

  @Test(
    "is told, and what is no accept is handed over with its type and body",
    arguments: TransportKind.own)
  func told(kind: TransportKind) async throws {
    try await TestWorld.run(
      over: kind, { $0.acceptedForm = .object(firstMember: "name", beginning: "projects/") }
    ) {
      lane, world in
      let bodies = [
        #"{"name":"projects/p"}"#, #"{"x":0,"name":"projects/p"}"#, "<html>", "",
      ]
      world.server.onRequest = { connection, request in
        let number = request.withPath { Int(String(decoding: $0.dropFirst(), as: UTF8.self))! }
        let type = number == 2 ? "Text/HTML; charset=utf-8" : "application/json; charset=UTF-8"
        connection.respond(
          request, status: 200, headers: [("content-type", type)], body: Array(bodies[number].utf8))
      }
      world.sender.path = { Array("/\($0)".utf8) }
      world.sender.send(4)
      #expect(await world.untilFinished(4))
      let endings = world.sender.endedOnce
      #expect(endings.map(\.isAccepted) == [true, false, false, false])
      #expect(endings.map(\.body) == ["", bodies[1], bodies[2], ""])
      #expect(
        endings.map(\.contentType) == [
          "application/json", "application/json", "Text/HTML; charset=utf-8", "application/json",
        ])
    }
  }

  @Test("is no body where the network sends none", arguments: TransportKind.own)
  func empty(kind: TransportKind) async throws {
    try await TestWorld.run(over: kind, { $0.acceptedForm = .empty }) { lane, world in
      world.server.onRequest = { connection, request in
        let number = request.withPath { Int(String(decoding: $0.dropFirst(), as: UTF8.self))! }
        connection.respond(
          request, status: 200, headers: [], body: number == 0 ? [] : Array("hello".utf8))
      }
      world.sender.path = { Array("/\($0)".utf8) }
      world.sender.send(1)
      #expect(await world.untilFinished(1))
      world.sender.send(1)
      #expect(await world.untilFinished(2))
      #expect(world.sender.endedOnce.map(\.isAccepted) == [true, false])
      #expect(world.sender.endedOnce.map(\.body) == ["", "hello"])
    }
  }
}

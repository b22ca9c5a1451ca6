import Model
import Testing

@testable import Providers

@Suite("The topic in a message")
struct TopicRenderingTests {
  @Test("stands beside aps")
  func apns() throws {
    let push = try TestProvider.apns().render(
      #"{"topic":"news","notification":{"title":"t","data":{"k":"v"}}}"#)
    #expect(push.text(token: "") == #"{"k":"v","aps":{"alert":{"title":"t"}},"to":"news"}"#)
    let direct = try TestProvider.apns().render(#"{"notification":{"title":"t"}}"#)
    #expect(!direct.text(token: "").contains("to"))
  }

  @Test("is not told of an event, which has its own members alone")
  func event() throws {
    let event = #"""
      {"topic":"news","kind":"push_to_app","event":{"bucket_id":"b","bucket_type":"rw",
       "type":"DATA_OBJECT_CREATED","object_scope_app_id":"a1","object_scope_type":"APP"}}
      """#
    #expect(!(try TestProvider.apns().render(event).text(token: "").contains(#""to""#)))
    #expect(!(try TestProvider.fcm().render(event).text(token: "T").contains(#""to""#)))
    #expect(!(try TestProvider.jpush().render(event).text(token: "T").contains(#""to""#)))
  }

  @Test("stands in FCM's data, with and without the job's")
  func fcm() throws {
    for (content, data) in [
      (#""notification":{"title":"t","data":{"k":"v"}}"#, #"{"k":"v","to":"news"}"#),
      (#""notification":{"title":"t"}"#, #"{"to":"news"}"#),
      (#""fcm":{"message":{"data":{"m":"n"}}}"#, #"{"m":"n","to":"news"}"#),
    ] {
      let push = try TestProvider.fcm().render(#"{"topic":"news",\#(content)}"#)
      let message = try push.json(token: "T").objectValue?["message"]?.objectValue
      #expect(message?["data"] == (try JSONParser().parse(data)))
    }
  }

  @Test("stands in the extras of each part that JPush tells the app of, and makes no part visible")
  func jpush() throws {
    for (content, notification, message) in [
      (
        #""notification":{"body":"b","data":{"k":"v"}}"#,
        #"{"alert":"b","android":{"alert":"b","extras":{"k":"v","to":"news"}},"ios":{"alert":"b","extras":{"k":"v","to":"news"}}}"#,
        "null"
      ),
      (
        #""notification":{"data":{"k":"v"}}"#,
        #"{"ios":{"alert":"","content-available":true,"extras":{"k":"v","to":"news"}}}"#,
        #"{"msg_content":"data","extras":{"k":"v","to":"news"}}"#
      ),
      (
        #""jpush":{"notification":{"alert":"x"}}"#,
        #"{"alert":"x","android":{"extras":{"to":"news"}},"ios":{"extras":{"to":"news"}}}"#, "null"
      ),
    ] {
      let push = try TestProvider.jpush().render(#"{"topic":"news",\#(content)}"#)
      let request = try #require(try push.json(token: "ID").objectValue)
      #expect(try request["notification"] == JSONParser().parse(notification))
      #expect(try (request["message"] ?? .null) == JSONParser().parse(message))
    }
  }
}

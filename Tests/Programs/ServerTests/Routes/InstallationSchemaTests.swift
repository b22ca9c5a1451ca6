import Model
import Testing

@testable import Server

/// What the API's document says of installations, beside what the model says.
@Suite struct InstallationSchemaTests {
  private static func names(_ schema: JSONValue) -> Set<String> {
    Set(schema.objectValue?["properties"]?.objectValue?.members.map(\.name) ?? [])
  }

  @Test("the document has every field of an installation, and no other")
  func fields() {
    let all = Set(Installation.fields)
    #expect(Self.names(InstallationSchema.put) == all)
    #expect(Self.names(InstallationSchema.post) == all)
    #expect(Self.names(InstallationSchema.answer) == all)
    #expect(
      Self.names(InstallationSchema.patch)
        == all.subtracting(["app", "user", "network", "token", "object_id", "created_at"]))
  }

  @Test("the examples of the document are right")
  func examples() throws {
    func example(_ schema: JSONValue) throws -> JSONValue {
      try #require(schema.objectValue?["examples"]?.arrayValue?.first)
    }
    let token = try DeviceToken("aabbccdd", network: .apns)
    let put = InstallationDocument(app: "shop", token: token)
    #expect(try put.installation(try example(InstallationSchema.put)).user == "u1")
    let post = InstallationDocument(app: "shop")
    let posted = try post.installation(try example(InstallationSchema.post))
    let patched = MergePatch.apply(try example(InstallationSchema.patch), to: posted.json())
    #expect(try Installation(json: patched).custom == ["team": "red"])
  }

  @Test("every parameter of the paths has a shape, and every route says what it answers")
  func routes() {
    for route in InstallationStage.routes {
      for name in route.pattern.parameters {
        // The shape of a parameter that nobody has described allows any text.
        let schema = PathParameter(name, in: route.pattern).schema.objectValue
        let any = PathParameter("unknown", in: route.pattern).schema.objectValue
        #expect(schema != nil && schema != any, "\(name)")
      }
      #expect(!route.document.answers.isEmpty && !route.document.summary.isEmpty)
      #expect((route.document.request != nil) == (route.bodyBytesMax > 0))
      let statuses = route.document.problems.map(\.status)
      #expect(Set(statuses).count == statuses.count, "\(route.pattern.text)")
    }
  }
}

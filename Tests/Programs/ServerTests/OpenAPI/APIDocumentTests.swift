import Model
import Testing

@testable import Server

/// The document of the API, made of routes.
@Suite struct APIDocumentTests {
  private static let document = APIDocument(routes: RouteStage.routes).json.objectValue!
  private static let paths = document["paths"]!.objectValue!

  private static func operation(_ path: String, _ method: String) throws -> JSONObject {
    try #require(paths[path]?.objectValue?[method]?.objectValue)
  }

  @Test("each route is an operation of its own, with a name that no other has")
  func names() {
    #expect(Self.document["openapi"] == .string("3.1.0"))
    var names: [String] = []
    for path in Self.paths.members {
      for operation in path.value.objectValue!.members {
        names.append(operation.value.objectValue!["operationId"]!.stringValue!)
      }
    }
    #expect(names.count == RouteStage.routes.count && Set(names).count == names.count)
    #expect(names.contains("postAppsAppJobsIdCancel"))
    #expect(Self.paths["/v1/apps/{app}/jobs/{id}:cancel"] != nil)
    #expect(Self.paths["/v1/apps/{app}/jobs:preview"] != nil)
  }

  @Test("an operation has the parameters of its path, its query and its headers")
  func parameters() throws {
    let operation = try Self.operation("/v1/apps/{app}/jobs", "post")
    let parameters = (operation["parameters"]?.arrayValue ?? []).compactMap(\.objectValue)
    #expect(
      parameters.map { "\($0["in"]!.stringValue!) \($0["name"]!.stringValue!)" }
        == ["path app", "query priority", "header Idempotency-Key"])
    #expect(parameters[0]["required"] == .bool(true))
    #expect(operation["requestBody"]?.objectValue?["required"] == .bool(true))
    #expect(operation["x-roles"] == .array([.string("server")]))
  }

  @Test("an operation tells its answers, its own problems and those of any route")
  func responses() throws {
    let submission = try Self.operation("/v1/apps/{app}/jobs", "post")["responses"]?.objectValue
    let statuses = Set((submission?.members ?? []).map(\.name))
    #expect(
      statuses.isSuperset(of: [
        "202", "400", "401", "403", "404", "409", "413", "422", "429", "500", "503",
      ]))
    let conflict = submission?["409"]?.objectValue?["content"]?.objectValue
    #expect(conflict?["application/problem+json"] != nil)
    let list = try Self.operation("/v1/switches", "get")["responses"]?.objectValue
    #expect(list?["413"] != nil && list?["422"] == nil)
    #expect(list?["503"] == ["$ref": .string("#/components/responses/Problem503")])
  }

  @Test("who may call is told by credentials and roles")
  func security() throws {
    func schemes(_ access: APIRoute.Access) -> [String] {
      APISecurity.requirements(of: access).compactMap { $0.objectValue?.members.first?.name }
    }
    #expect(schemes(.open).isEmpty)
    #expect(schemes(.roles([.device, .server])) == ["key", "userToken"])
    #expect(schemes(.roles([.operatorLook])) == ["key", "session"])
    #expect(APISecurity.admitted([.operatorLook]) == [.operatorLook, .operatorAct, .admin])
    #expect(APISecurity.admitted([.operatorAct]) == [.operatorAct, .admin])
  }

  @Test("whatever a document refers to is there")
  func references() throws {
    var references: Set<String> = []
    func collect(_ value: JSONValue) {
      switch value {
      case .object(let object):
        for member in object.members {
          if member.name == "$ref", let text = member.value.stringValue {
            references.insert(text)
          } else {
            collect(member.value)
          }
        }
      case .array(let items): for item in items { collect(item) }
      case .null, .bool, .number, .string: break
      }
    }
    collect(.object(Self.document))
    #expect(!references.isEmpty)
    for reference in references {
      var value = JSONValue.object(Self.document)
      for name in reference.dropFirst(2).split(separator: "/") {
        value = try #require(value.objectValue?[String(name)], "\(reference)")
      }
    }
  }
}

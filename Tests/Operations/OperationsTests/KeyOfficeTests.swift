import Model
import Operations
import Redis
import Store
import Testing

/// Keys of the HTTP API: what they look like, and how they are made and revoked.
@Suite struct KeyOfficeTests {
  @Test("a new key reads as it was written, and its secret stands in no description")
  func text() throws {
    for role in KeyRole.allCases {
      let key = KeyText(new: role)
      #expect(key.text.hasPrefix("pp_\(role.rawValue)_\(key.id)_"))
      #expect(KeyText(key.text) == key)
      #expect(KeyText.isID(key.id) && RandomSecret.isOne(key.secret))
      #expect(!"\(key)".contains(key.secret) && "\(key)".contains(key.id))
      #expect(KeyText.stands(in: "/v1/x?key=\(key.text)") && !KeyText.stands(in: "/v1/x?y=pp_1"))
    }
    #expect(Set((0..<200).map { _ in KeyText(new: .server).secret }).count == 200)
  }

  @Test("what is no whole key is none")
  func strangers() {
    let key = KeyText(new: .server)
    for text in [
      "", "pp", "pp_", "pp_server", "pp_server_\(key.id)", "pp_server_\(key.id)_",
      String(key.text.dropLast()), key.text + "A", key.text.uppercased(),
      key.text.replacing("server", with: "device"), key.text.replacing("server", with: "root"),
      "xx" + key.text.dropFirst(2), key.text.replacing(key.id, with: key.id.uppercased() + "1"),
      String(key.text.dropLast()) + "=", " \(key.text)",
    ] {
      #expect(KeyText(text) == nil, "\(text)")
    }
  }

  @Test("a key is made at the fleet's home, found, listed in order and revoked there")
  func office() async throws {
    try await Shards.withFleet { fleet, stores in
      let office = KeyOffice(fleet: fleet)
      let first = try #require(
        try await office.create(.server, app: "shop", name: "backend", by: "ann", nowMs: 2))
      let second = try #require(
        try await office.create(.admin, app: nil, name: "", by: "ann", nowMs: 1))
      #expect(try await fleet.accessKeys.find(first.key.id) == first.key)
      let keys = try await stores[1].connection.call(
        RedisCommand("EXISTS", stores[1].keys.accessKeys)
      ) { $0.integer }
      #expect(keys == 0)
      #expect(first.key.fits(first.text.secret) && !first.key.fits(second.text.secret))
      #expect(try await office.list().map(\.id) == [second.key.id, first.key.id])
      #expect(try await office.find(first.key.id)?.name == "backend")
      #expect(try await office.revoke(first.key.id))
      #expect(try await office.find(first.key.id) == nil)
      #expect(try await office.revoke(first.key.id) == false)
      let json = second.key.json()
      #expect(json["role"]?.stringValue == "admin" && json["app"] == nil && json["sha256"] == nil)
    }
  }

  @Test("the role server takes an app, the others take none, and device is explained")
  func checks() throws {
    #expect(throws: Never.self) { try KeyOffice.check(.server, app: "shop", name: "") }
    #expect(throws: Never.self) { try KeyOffice.check(.admin, app: nil, name: "ann") }
    for (role, app, name, pointer) in [
      (KeyRole.server, nil, "", "/app"), (.admin, "shop", "", "/app"),
      (.server, "a b", "", "/app"), (.admin, nil, String(repeating: "x", count: 129), "/name"),
      (.admin, nil, "a\u{7}", "/name"),
    ] as [(KeyRole, String?, String, String)] {
      let error = try #require(throws: InvalidField.self) {
        try KeyOffice.check(role, app: app, name: name)
      }
      #expect(error.pointer == pointer)
    }
    #expect(try KeyOffice.role("operator-act") == .operatorAct)
    let device = try #require(throws: InvalidField.self) { try KeyOffice.role("device") }
    #expect(device.message.contains("user token (JWT)"))
    let near = try #require(throws: InvalidField.self) { try KeyOffice.role("operator-lok") }
    #expect(near.message.contains("did you mean \"operator-look\"?"))
  }
}

/// The members of a JSON object in their order, each name once.
package struct JSONObject: Sendable {
  package struct Member: Sendable {
    package let name: String
    package fileprivate(set) var value: JSONValue
  }

  /// Room for a usual object, so that it need not grow member by member.
  private static let usualMembers = 4
  /// Below this a scan beats a hash table.
  private static let scannedMembersMax = 12

  package private(set) var members: [Member] = []
  private var index: [ByteExactText: Int] = [:]

  package init() {}

  package var isEmpty: Bool { members.isEmpty }
  package var count: Int { members.count }

  /// Adds a member; false, and no change, when the name is there already.
  package mutating func insert(_ value: JSONValue, for name: String) -> Bool {
    if position(of: name) != nil { return false }
    append(value, for: name)
    return true
  }

  /// Adds a member that is surely not there: one of a schema's, each of which is written once. Nil adds none.
  package mutating func add(_ value: JSONValue?, for name: String) {
    assert(position(of: name) == nil, "\(name) is written twice")
    if let value { append(value, for: name) }
  }

  /// Adds a member that is not there.
  private mutating func append(_ value: JSONValue, for name: String) {
    if members.isEmpty { members.reserveCapacity(Self.usualMembers) }
    members.append(Member(name: name, value: value))
    if members.count == Self.scannedMembersMax + 1 {
      for (position, member) in members.enumerated() {
        index[ByteExactText(member.name)] = position
      }
    } else if members.count > Self.scannedMembersMax {
      index[ByteExactText(name)] = members.count - 1
    }
  }

  package subscript(name: String) -> JSONValue? {
    get { position(of: name).map { members[$0].value } }
    set {
      switch (position(of: name), newValue) {
      case (let position?, let value?): members[position].value = value
      case (let position?, nil): remove(at: position)
      case (nil, let value?): append(value, for: name)
      case (nil, nil): break
      }
    }
  }

  private mutating func remove(at position: Int) {
    members.remove(at: position)
    index.removeAll()
    guard members.count > Self.scannedMembersMax else { return }
    for (position, member) in members.enumerated() {
      index[ByteExactText(member.name)] = position
    }
  }

  private func position(of name: String) -> Int? {
    if members.count > Self.scannedMembersMax { return index[ByteExactText(name)] }
    // Nearly all names differ in length already, and the search for one goes through all before it.
    let count = name.utf8.count
    return members.indices.first {
      members[$0].name.utf8.count == count && TextRule.isSame(members[$0].name, name)
    }
  }
}

extension JSONObject: Equatable {
  /// The order of members carries no meaning (RFC 8259 section 4).
  package static func == (one: JSONObject, other: JSONObject) -> Bool {
    one.count == other.count && one.members.allSatisfy { other[$0.name] == $0.value }
  }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
  package init(dictionaryLiteral elements: (String, JSONValue)...) {
    for (name, value) in elements { self[name] = value }
  }
}

internal import Model

// What the texts of a job are filled with.
extension VariableTable {
  /// Keeps a user's values for the placeholders of a job.
  /// - Parameter arena: where they are copied to; it lives as long as the table.
  mutating func add(
    _ values: UserValues, of material: JobMaterial, in arena: ByteArena
  ) -> Row {
    switch values {
    case .notNeeded: .none
    case .given(let values): add(values, material, arena)
    case .json(let json): add(json: json, material, arena)
    case .unreadable: .unreadable
    case .noHash: .noHash
    }
  }

  private mutating func add(
    _ values: [String: String], _ material: JobMaterial, _ arena: ByteArena
  ) -> Row {
    let placeholders = material.variants.placeholders
    return add(placeholders.count) { number in
      let placeholder = placeholders[number]
      return (values[placeholder.name] ?? placeholder.fallback)
        .map { Self.keep($0, for: placeholder, in: arena) }
    }
  }

  private static func keep(
    _ value: String, for placeholder: Placeholder, in arena: ByteArena
  ) -> UnsafeRawBufferPointer {
    var escaped: [UInt8] = []
    var text = placeholder.written(value)
    text.withUTF8 { JSONWriter.appendEscaped(UnsafeRawBufferPointer($0), to: &escaped) }
    return escaped.withUnsafeBytes { arena.copy($0) }
  }

  /// `unreadable` for what is no object of values.
  private mutating func add(
    json: UnsafeRawBufferPointer, _ material: JobMaterial, _ arena: ByteArena
  ) -> Row {
    var row = Row.unreadable
    if FlatJSONObject.withMembers(of: json, { row = add($0, material, arena) }) { return row }
    guard let values = Variables.values(in: json) else { return .unreadable }
    return add(values, material, arena)
  }

  private mutating func add(
    _ members: UnsafeBufferPointer<FlatJSONObject.Member>, _ material: JobMaterial,
    _ arena: ByteArena
  ) -> Row {
    let names = material.placeholderNames
    return add(names.count) { number in
      let placeholder = material.variants.placeholders[number]
      guard let member = members.first(where: { $0.name.elementsEqual(names[number]) }) else {
        return placeholder.fallback.map { Self.keep($0, for: placeholder, in: arena) }
      }
      guard !placeholder.isInURL else {
        return Self.keep(String(decoding: member.value, as: UTF8.self), for: placeholder, in: arena)
      }
      // It was in JSON without an escape, so it needs none there.
      return arena.copy(member.value)
    }
  }
}

internal import Model

// What the run's texts are filled with.
extension ChunkRun {
  /// Keeps a user's values for the placeholders of the job.
  func addVariables(_ values: UserValues) -> VariableTable.Row {
    switch values {
    case .notNeeded: .none
    case .given(let values): addVariables(values)
    case .json(let json): addVariables(json: json)
    case .unreadable: .unreadable
    case .noHash: .noHash
    }
  }

  private func addVariables(_ values: [String: String]) -> VariableTable.Row {
    let placeholders = material.variants.placeholders
    return variables.add(placeholders.count) { number in
      let placeholder = placeholders[number]
      return (values[placeholder.name] ?? placeholder.fallback).map { keep($0, for: placeholder) }
    }
  }

  private func keep(_ value: String, for placeholder: Placeholder) -> UnsafeRawBufferPointer {
    var escaped: [UInt8] = []
    var text = placeholder.written(value)
    text.withUTF8 { JSONWriter.appendEscaped(UnsafeRawBufferPointer($0), to: &escaped) }
    return escaped.withUnsafeBytes { arena.copy($0) }
  }

  /// `unreadable` for what is no object of values.
  private func addVariables(json: UnsafeRawBufferPointer) -> VariableTable.Row {
    var row = VariableTable.Row.unreadable
    if FlatJSONObject.withMembers(of: json, { row = addVariables($0) }) { return row }
    return Variables.values(in: json).map { addVariables($0) } ?? .unreadable
  }

  private func addVariables(
    _ members: UnsafeBufferPointer<FlatJSONObject.Member>
  ) -> VariableTable.Row {
    let names = material.placeholderNames
    return variables.add(names.count) { number in
      guard let member = members.first(where: { $0.name.elementsEqual(names[number]) }) else {
        let placeholder = material.variants.placeholders[number]
        return placeholder.fallback.map { keep($0, for: placeholder) }
      }
      guard !material.variants.placeholders[number].isInURL else {
        return keep(
          String(decoding: member.value, as: UTF8.self), for: material.variants.placeholders[number]
        )
      }
      // It was in JSON without an escape, so it needs none there.
      return arena.copy(member.value)
    }
  }
}

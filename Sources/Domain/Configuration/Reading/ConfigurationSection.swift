internal import Model
internal import Yams

/// One mapping of the file together with the variables that stand for its fields.
struct ConfigurationSection {
  let source: ConfigurationSource
  /// nil when the file does not have it.
  let mapping: Node.Mapping?
  let line: Int?
  /// The section's place, for instance `apps[0].apns`; empty for the whole file.
  let field: String
  /// The beginning of its variables, for instance `PUSHPOOL_APPS_SHOP_APNS`.
  let variables: String

  /// `known` are the names that it may hold, `fields` those of them that are scalars.
  init(
    _ node: Node?, source: ConfigurationSource, field: String, variables: String, known: [String]
  ) throws(ConfigurationError) {
    self.source = source
    self.field = field
    self.variables = variables
    line = node?.mark?.line
    guard let node, !Self.isNull(node) else {
      mapping = nil
      return
    }
    guard let mapping = node.mapping else {
      try source.refuse(
        ConfigurationError(
          file: source.file, line: line, field: field,
          message: "must be a mapping of names to values, is \(Self.kind(node))"))
      self.mapping = nil
      return
    }
    self.mapping = mapping
    for (key, _) in mapping {
      guard let name = key.scalar?.string, known.contains(name) else {
        let name = key.scalar?.string ?? Self.kind(key)
        guard Self.isName(name) else {
          // As `url:"redis://:password@…"` without the space is: not to be repeated.
          try source.refuse(
            ConfigurationError(
              file: source.file, line: key.mark?.line, field: field,
              message:
                "holds a name that is none; write \"name: value\", with a space behind the colon"),
            isOneOfMany: true)
          continue
        }
        try source.refuse(
          ConfigurationError(
            file: source.file, line: key.mark?.line, field: path(to: FieldPointer.printable(name)),
            message: Self.unknown(name, known: known)))
        if let meant = Self.meant(by: name, known: known), !has(meant) {
          source.silence(path(to: meant))
        }
        continue
      }
    }
  }

  /// Returns what was written, for a message; not when it may be a URL with a password, or a key, in the wrong place.
  static func quoted(_ text: String) -> String {
    isName(text) ? "\"\(FieldPointer.printable(text))\"" : "something else"
  }

  private static func isName(_ text: String) -> Bool {
    text.utf8.count <= ConfigurationLimits.nameBytesMax
      && text.utf8.allSatisfy { byte in
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte
          || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
          || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
          || [0x5f, 0x2d, 0x20, 0x2e].contains(byte)
      }
  }

  private static func unknown(_ name: String, known: [String]) -> String {
    if known.contains(name + "_file") {
      return "must not stand in the configuration: secrets are files, "
        + "write its path as \(name)_file"
    }
    return NearestName.unknownField(name, among: known)
  }

  /// The known name that the message about an unknown one speaks of.
  private static func meant(by name: String, known: [String]) -> String? {
    known.contains(name + "_file")
      ? name + "_file" : NearestName.suggestion(for: name, among: known)
  }

  static func isNull(_ node: Node) -> Bool {
    guard let scalar = node.scalar, scalar.style == .plain else { return false }
    return ["", "~", "null"].contains(scalar.string)
  }

  private static func kind(_ node: Node) -> String {
    if node.mapping != nil { return "a mapping" }
    if node.sequence != nil { return "a list" }
    return isNull(node) ? "empty" : "a single value"
  }

  func path(to name: String) -> String { field.isEmpty ? name : "\(field).\(name)" }

  func variable(for name: String) -> String { "\(variables)_\(name.uppercased())" }

  /// The node of a member; its section begins at the line of its name.
  func node(_ name: String) -> Node? { mapping?[name] }

  /// Whether the file or a variable has it.
  func has(_ name: String) -> Bool {
    node(name) != nil || source.variables[variable(for: name)] != nil
  }

  /// Whether the file has it, or a variable sets one of its fields.
  func isPresent(fields: [String]) -> Bool {
    mapping != nil || fields.contains { source.variables[variable(for: $0)] != nil }
  }

  func section(_ name: String, known: [String]) throws(ConfigurationError) -> ConfigurationSection {
    try ConfigurationSection(
      node(name), source: source, field: path(to: name), variables: variable(for: name),
      known: known)
  }

  func missing(_ name: String, _ message: String) -> ConfigurationError {
    ConfigurationError(
      file: source.file, line: line, field: path(to: name), message: message)
  }

  /// nil when neither the file nor a variable has it.
  func scalar(_ name: String) throws(ConfigurationError) -> ConfigurationScalar? {
    try source.reading(else: nil) { () throws(ConfigurationError) in try written(name) }
  }

  private func written(_ name: String) throws(ConfigurationError) -> ConfigurationScalar? {
    let variable = variable(for: name)
    if let text = source.variable(variable) {
      let scalar = ConfigurationScalar(
        text: text, field: path(to: name), file: source.file, line: nil, variable: variable)
      // Passed over, it would lead to another Redis than the one that was meant.
      guard !text.isEmpty else {
        throw scalar.refused("is set but empty: give it a value, or unset it")
      }
      return scalar
    }
    guard let node = node(name) else { return nil }
    guard let scalar = node.scalar, !Self.isNull(node) else {
      throw ConfigurationError(
        file: source.file, line: node.mark?.line, field: path(to: name),
        message: "must be a single value, is \(Self.kind(node))")
    }
    return ConfigurationScalar(
      text: scalar.string, field: path(to: name), file: source.file, line: scalar.mark?.line,
      variable: nil)
  }

  func required(_ name: String, _ why: String) throws(ConfigurationError) -> ConfigurationScalar {
    if let scalar = try scalar(name) { return scalar }
    try source.refuse(missing(name, "is missing: \(why); or set \(variable(for: name))"))
    return ConfigurationScalar(
      text: "", field: path(to: name), file: source.file, line: line, variable: nil)
  }
}

/// One value as written, and where.
struct ConfigurationScalar {
  let text: String
  let field: String
  let file: String
  /// nil when a variable sets it.
  let line: Int?
  let variable: String?

  func refused(_ message: String) -> ConfigurationError {
    ConfigurationError(file: variable ?? file, line: line, field: field, message: message)
  }
}

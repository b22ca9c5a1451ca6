/// The path of something that an answer names, percent-encoded.
struct ResourcePath: Sendable {
  let text: String

  init(_ segments: String...) { self.init(segments) }

  init(_ segments: [String]) {
    text = segments.map { "/" + PercentText.encoded($0) }.joined()
  }

  /// The path with a query. Fields without a value are left out.
  func with(_ query: [(name: String, value: String?)]) -> String {
    let fields = query.compactMap { field in
      field.value.map { "\(field.name)=\(PercentText.encoded($0))" }
    }
    return fields.isEmpty ? text : text + "?" + fields.joined(separator: "&")
  }
}

/// The form of a text that holds no key, by its first characters, for messages.
package enum TextForm: Equatable {
  case html, xml, json, richText, puTTY, binary, other

  package init(_ bytes: [UInt8]) {
    let head = String(decoding: PlainText.of(Array(bytes.prefix(256))), as: UTF8.self)
      .lowercased().drop { $0.isWhitespace }
    if bytes.starts(with: "{\\rtf".utf8) {
      self = .richText
    } else if head.hasPrefix("<!doctype html") || head.hasPrefix("<html") {
      self = .html
    } else if head.hasPrefix("<?xml") || head.hasPrefix("<plist") {
      self = .xml
    } else if head.hasPrefix("{") || head.hasPrefix("[") {
      self = .json
    } else if head.hasPrefix("putty-user-key-file") {
      self = .puTTY
    } else if bytes.contains(0) {
      self = .binary
    } else {
      self = .other
    }
  }

  /// The rest of a sentence that begins with "is".
  package var name: String {
    switch self {
    case .html: "an HTML page, such as a site's page for signing in"
    case .xml: "an XML file, such as an app's own property list"
    case .json: "a JSON file, such as a service account"
    case .richText: "a rich text document, which an editor made of the key: save it as plain text"
    case .puTTY: "a key in PuTTY's form"
    case .binary: "a binary file that is neither a key nor a certificate"
    case .other: "a text without a \"-----BEGIN PRIVATE KEY-----\" line"
    }
  }
}

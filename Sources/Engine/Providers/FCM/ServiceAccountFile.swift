internal import Model
internal import Reactor

/// The JSON object of a service account's file, in any form in which people have it: with a byte order mark, in UTF-16, in
/// Base64, as a JSON string, or with the key's line breaks as they are.
enum ServiceAccountFile {
  static let remedy = SigningAlgorithm.rs256.remedy

  static func object(_ bytes: [UInt8], file: String) throws(CredentialFileError) -> JSONObject {
    let text = PlainText.utf8(bytes)
    let value: JSONValue
    do throws(JSONSyntaxError) {
      value = try parse(text)
    } catch {
      throw CredentialFileError(file: file, problem: problem(text, error))
    }
    guard let object = value.objectValue else {
      throw CredentialFileError(
        file: file, problem: "is \(value.kindName) and not an object; \(remedy)")
    }
    if let other = otherKind(object) {
      throw CredentialFileError(file: file, problem: "is \(other); \(remedy)")
    }
    return object
  }

  private static func parse(_ text: [UInt8]) throws(JSONSyntaxError) -> JSONValue {
    let refusal: JSONSyntaxError
    do throws(JSONSyntaxError) {
      return unwrapped(try JSONParser().parse(text))
    } catch {
      refusal = error
    }
    // An environment variable or a secret holds it in Base64; a shell put real line breaks into the key.
    if case .bytes(let inner) = Base64.content(of: text), inner.first == UInt8(ascii: "{"),
      let value = try? JSONParser().parse(inner)
    {
      return value
    }
    if let value = try? JSONParser().parse(escapingBreaks(text)) { return unwrapped(value) }
    throw refusal
  }

  /// The object of a string that holds JSON.
  private static func unwrapped(_ value: JSONValue) -> JSONValue {
    guard let text = value.stringValue, let inner = try? JSONParser().parse(text) else {
      return value
    }
    return inner
  }

  /// Line breaks within strings, which JSON does not allow, become `\n`.
  private static func escapingBreaks(_ text: [UInt8]) -> [UInt8] {
    var escaped: [UInt8] = []
    escaped.reserveCapacity(text.count)
    var (isString, isEscape) = (false, false)
    for byte in text {
      if isString, byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") {
        escaped += Array((byte == UInt8(ascii: "\n") ? "\\n" : "\\r").utf8)
        continue
      }
      if byte == UInt8(ascii: "\""), !isEscape { isString.toggle() }
      isEscape = byte == UInt8(ascii: "\\") && !isEscape
      escaped.append(byte)
    }
    return escaped
  }

  private static func problem(_ text: [UInt8], _ error: JSONSyntaxError) -> String {
    let form = TextForm(text)
    if form == .json { return "is \(error)" }
    if let content = try? KeyFileContent(text, file: "", remedy: "") {
      return "holds \(content.summary) and no JSON; \(remedy)"
    }
    return "is \(form == .other ? "\(error)" : form.name); \(remedy)"
  }

  /// Says which other JSON file of Google's it is, for messages.
  private static func otherKind(_ object: JSONObject) -> String? {
    if object["project_info"] != nil, object["client"] != nil {
      return "google-services.json, which the app has"
    }
    if object["installed"] != nil || object["web"] != nil { return "an OAuth client" }
    guard let type = object["type"]?.stringValue, type != "service_account" else { return nil }
    return
      "of type \"\(FieldPointer.printable(type))\"; it must be \"service_account\""
  }
}

import Model

/// One JSON object on one line.
enum JSONLine {
  static func object(_ members: [(String, String)]) -> String {
    var object: JSONObject = [:]
    for (name, value) in members { object[name] = .string(value) }
    return JSONValue.object(object).text()
  }

  static func listening(host: String, port: UInt16) -> String {
    let object: JSONObject = ["listening": .string(host), "port": .integer(Int(port))]
    return JSONValue.object(object).text()
  }
}

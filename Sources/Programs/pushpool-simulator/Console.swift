import Glibc
import Model

/// The console that the command writes to: results on standard output, complaints on standard error.
enum Console {
  static func say(_ line: String) { write(line + "\n", to: STDOUT_FILENO) }

  static func complain(_ sentence: String) {
    let shown = String(
      String.UnicodeScalarView(
        sentence.unicodeScalars.map { TextRule.isUnsafeToShow($0) ? "\u{FFFD}" : $0 }))
    write("pushpool-simulator: \(shown)\n", to: STDERR_FILENO)
  }

  /// Unbuffered, for whoever waits for a line on a pipe.
  private static func write(_ text: String, to descriptor: CInt) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress!, $0.count) }
      guard count > 0 else { return }
      rest.removeFirst(count)
    }
  }
}

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

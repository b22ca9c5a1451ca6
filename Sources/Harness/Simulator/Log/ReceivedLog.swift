internal import Glibc
internal import Model

/// Tells whoever watches what the simulator receives: one line of JSON a request, when its answer is decided.
///
/// Nothing waits for the reader. What a slow one has no room for is left out, and the next line says how much that was.
struct ReceivedLog {
  private static let names = PushNetworks.shownHeaders + ["content-type"]

  private let descriptor: CInt
  private var leftOut = 0

  /// - Parameter descriptor: stays open; it is not closed here.
  init(descriptor: CInt) {
    self.descriptor = descriptor
  }

  /// Writes a line for a request.
  /// - Parameter headers: its fields, in their order.
  mutating func note(
    _ request: IncomingRequest, headers: [(name: String, value: String)], answer: String
  ) {
    var object: JSONObject = [:]
    // A line of its own for what is missing would need a reader with room, too.
    if leftOut > 0 { object["left_out_before"] = .integer(leftOut) }
    let player = PushNetworks.player(at: request.path)
    object["network"] = .string(player.name)
    object["path"] = .string(Self.shortened(request.path.text))
    object["answer"] = .string(answer)
    object["headers"] = .object(Self.shown(headers))
    if let body = request.body {
      object["bytes"] = .integer(body.count)
      // A bearer token is asked for with a signed assertion, which is as good as a password while it lives.
      if !player.takesSecrets { object["body"] = Self.shown(body) }
    }
    if write(JSONValue.object(object).bytes() + [0x0a]) { leftOut = 0 } else { leftOut += 1 }
  }

  /// A path with the start of its last part only, where that is long: a device token.
  private static func shortened(_ path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else {
      return String(path.prefix(SimulatorLimits.shownPathCharactersMax))
    }
    let name = path[path.index(after: slash)...]
    let short =
      name.count <= SimulatorLimits.shownTokenCharacters * 2
      ? String(name) : name.prefix(SimulatorLimits.shownTokenCharacters) + "…"
    return path[...slash].prefix(SimulatorLimits.shownPathCharactersMax) + short
  }

  private static func shown(_ headers: [(name: String, value: String)]) -> JSONObject {
    var shown: JSONObject = [:]
    for (name, value) in headers {
      if names.contains(name) {
        shown[name] = .string(String(value.prefix(SimulatorLimits.shownHeaderCharactersMax)))
      } else if name == "authorization" {
        // The scheme alone.
        shown[name] = .string(value.prefix { $0 != " " }.prefix(16) + " …")
      }
    }
    return shown
  }

  /// The body itself where it is JSON and fits on a line, else the start of its text.
  private static func shown(_ body: UnsafeRawBufferPointer) -> JSONValue {
    if body.count <= SimulatorLimits.shownBodyBytesMax,
      let value = try? JSONParser(bytesMax: body.count).parse(Array(body))
    {
      return value
    }
    let start = body.prefix(SimulatorLimits.shownTextBytesMax)
    return .string(String(decoding: start, as: UTF8.self) + (start.count < body.count ? "…" : ""))
  }

  /// - Returns: false when the reader has no room for it now, or is gone.
  private func write(_ line: [UInt8]) -> Bool {
    // A pipe that can be written to takes PIPE_BUF bytes at once (pipe(7)).
    guard line.count <= PIPE_BUF else { return false }
    var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    guard poll(&wanted, 1, 0) == 1, wanted.revents & Int16(POLLOUT) != 0 else { return false }
    return Glibc.write(descriptor, line, line.count) == line.count
  }
}

/// The content of the benchmark's jobs.
package struct Message: Sendable {
  /// Bytes of filling, which make a payload as long as it shall be.
  let fillingBytes: Int
  /// The key of the receivers' names, when texts differ by receiver: a name and a language each.
  var names: String?
  /// A pace of the jobs' own.
  package var pushesPerSecond: Int?

  /// - Parameter payloadBytes: of the APNs payload, about; not below ``payloadBytesMin``.
  package init(payloadBytes: Int = Self.payloadBytesMin) {
    fillingBytes = max(0, payloadBytes - Self.payloadBytesMin - Self.fillingOverheadBytes)
  }

  /// Bytes of the payload without any filling.
  package static let payloadBytesMin = 300
  /// The member that the filling is in: `,"filling":""`
  private static let fillingOverheadBytes = 13

  /// The members of a job that become its payload.
  package var content: String {
    if let names { return Self.personal(names) }
    let filling =
      fillingBytes == 0
      ? "" : #","filling":"\#(String(repeating: "pushpool ", count: fillingBytes / 9))""#
    return """
      "notification":{"title":"Your order is on its way",\
      "body":"It left our warehouse this morning and arrives tomorrow between ten and twelve. \
      Tap to follow the van on the map.",\
      "sound":"default","data":{"order":"2026-0042-7781","screen":"tracking",\
      "carrier":"van-17"\(filling)}}
      """
  }

  /// The languages of installations that get a personal message; one of them has no text of its own.
  static let languages = ["en", "de", "fr", "ja", "zh-Hant", "pt-BR"]

  /// Returns a personal text as long as what it stands beside.
  private static func personal(_ names: String) -> String {
    let texts = languages.dropFirst().map { language in
      """
      "\(language)":{"title":"{{name}}, your order is here (\(language))",\
      "body":"It left our warehouse this morning and arrives tomorrow between ten and twelve. \
      Tap to follow the van on the map."}
      """
    }
    return """
      "notification":{"title":"{{name}}, your order comes",\
      "body":"It left our warehouse this morning and arrives tomorrow between ten and twelve. \
      Tap to follow the van on the map.",\
      "sound":"default","data":{"order":"2026-0042-7781","screen":"tracking",\
      "carrier":"van-17"}},"localized":{\(texts.joined(separator: ","))},"variables_key":"\(names)"
      """
  }

  /// A job for these users.
  package func job(
    id: String, app: String = Population.app, population: Population, users: some Collection<Int>
  ) -> [UInt8] {
    var audience = Array(#"{"users":["#.utf8)
    audience.reserveCapacity(users.count * 16)
    var isFirst = true
    for number in users {
      audience += (isFirst ? "\"" : ",\"").utf8
      audience += population.user(number).utf8
      audience.append(UInt8(ascii: "\""))
      isFirst = false
    }
    return job(id: id, app: app, audience: audience + Array("]}".utf8))
  }

  /// A job for the users that are named by the members of a key.
  func job(id: String, usersKey: String) -> [UInt8] {
    job(id: id, audience: Array(#"{"users_key":"\#(usersKey)"}"#.utf8))
  }

  /// A job for an audience, as JSON.
  func job(id: String, audience: String) -> [UInt8] { job(id: id, audience: Array(audience.utf8)) }

  private func job(
    id: String, app: String = Population.app, audience: [UInt8]
  ) -> [UInt8] {
    let pace = pushesPerSecond.map { #","pushes_per_second":\#($0)"# } ?? ""
    return Array(#"{"id":"\#(id)","app":"\#(app)",\#(content),"audience":"#.utf8)
      + audience
      + Array("\(pace)}".utf8)
  }
}

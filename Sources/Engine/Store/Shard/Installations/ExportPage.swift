package import Model
internal import Redis

/// A page of an export, as one step found it.
package struct ExportPage: Sendable {
  package let installations: [Installation]
  /// Apps that have topics, channels or users.
  package let apps: [String]
  /// Where the export goes on.
  package let walk: KeyWalk

  /// - Parameter reply: of `export_installations`. What only a newer version can read is left out.
  init(_ reply: RedisReply, after walk: KeyWalk) throws(RedisError) {
    let first = KeyWalk.columns + 1
    try expectArray(reply, atLeast: first)
    var next = walk
    _ = try next.advance(reply)
    self.walk = next
    let names = reply[KeyWalk.columns]
    apps = (0..<names.count).map { names[$0].string }
    var installations: [Installation] = []
    for index in first..<max(first, reply.count) {
      let one = reply[index]
      try expectArray(one, exactly: 4)
      guard let network = Network(rawValue: one[0].string) else { continue }
      let token = DeviceToken(stored: one[2].string, network: network)
      let stored = StoredInstallation(
        app: one[1].string, token: token, fields: RESPValue(one[3]).pairs)
      if let stored { installations.append(stored.installation) }
    }
    self.installations = installations
  }
}

internal import HTTP2
internal import Providers

/// How a lane's connections behave, from the configuration.
struct DispatcherSettings {
  /// The process, as its alarms name it.
  var worker: String
  var connectionsMax: Int
  var streamsMax: Int
  /// Connections to all networks beyond which idle ones are closed.
  var connectionsKept = Int.max
  var requestTimeoutMs: UInt64
  /// Shared by the lanes of a process.
  var shortage: DescriptorShortage

  func clientSettings(_ destination: PushDestination) -> ClientSettings {
    var settings = ClientSettings(endpoint: destination.endpoint, tls: destination.tls)
    settings.serverName = destination.serverName
    settings.connectionsMax = connectionsMax
    settings.streamsMax = streamsMax
    settings.startsWithOneStream = destination.startsWithOneStream
    settings.acceptsHTTP1 = destination.acceptsHTTP1
    settings.requestTimeoutMs = requestTimeoutMs
    return settings
  }
}

internal import HTTP2
internal import Providers

/// How a lane's connections behave, from the configuration.
struct ConnectionSettings {
  var connectionsMax: Int
  var streamsMax: Int
  var requestTimeoutMs: UInt64

  func clientSettings(_ destination: PushDestination) -> ClientSettings {
    var settings = ClientSettings(endpoint: destination.endpoint, tls: destination.tls)
    settings.proxy = destination.proxy
    settings.serverName = destination.serverName
    settings.connectionsMax = connectionsMax
    settings.streamsMax = streamsMax
    settings.startsWithOneStream = destination.startsWithOneStream
    settings.requestTimeoutMs = requestTimeoutMs
    return settings
  }
}

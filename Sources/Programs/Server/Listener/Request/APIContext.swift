internal import Hummingbird
internal import NIOCore

/// The surroundings of a request, as Hummingbird knows them.
struct APIContext: InitializableFromSource {
  let channel: any Channel

  init(source: ApplicationRequestContextSource) { channel = source.channel }

  /// The address of whoever opened the connection, which may be a proxy's.
  var peer: String { channel.remoteAddress?.ipAddress ?? "" }
}

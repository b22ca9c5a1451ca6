internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOHTTP1

/// A connection of Hummingbird's with a guard before and behind its parser.
struct GuardedChannel: ServerChildChannel {
  typealias Value = HTTP1Channel.Value

  private let inner: HTTP1Channel
  private let state: ServingState

  init(responder: @escaping HTTPChannelHandler.Responder, state: ServingState) {
    self.state = state
    inner = HTTP1Channel(
      responder: responder,
      configuration: HTTP1Channel.Configuration(
        idleTimeout: .seconds(Int64(ServerLimits.idleSeconds)),
        httpDecoderConfiguration: HTTP1Channel.Configuration.DecoderConfiguration(
          maxHeaderFieldSize: ServerLimits.headerBytesMax,
          maxHeaderListSize: ServerLimits.headerBytesMax,
          maxHeaderFieldCount: ServerLimits.headerFieldsMax)))
  }

  func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
    let watch = ConnectionGuard(state)
    do {
      try channel.pipeline.syncOperations.addHandler(ByteGate(watch))
    } catch {
      return channel.eventLoop.makeFailedFuture(error)
    }
    return inner.setup(channel: channel, logger: logger).assumeIsolated().flatMapThrowing { value in
      let handlers = channel.pipeline.syncOperations
      let parser = try handlers.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
      try handlers.addHandler(watch, position: .after(parser))
      return value
    }.nonisolated()
  }

  func handle(value: Value, logger: Logger) async {
    await inner.handle(value: value, logger: logger)
  }
}

internal import NIOCore

/// Tells the guard of a connection of the bytes before they are parsed, and throws away what comes behind the last answer;
/// loop-bound.
final class ByteGate: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private let watch: ConnectionGuard

  init(_ watch: ConnectionGuard) { self.watch = watch }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !watch.isOver else {
      return watch.threwAway(Self.unwrapInboundIn(data).readableBytes)
    }
    let before = watch.partsSeen
    // The parser makes parts of it before this returns.
    context.fireChannelRead(data)
    watch.bytesWentIn(madeParts: watch.partsSeen != before)
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    context.fireChannelReadComplete()
    // Whoever answers reads no more, so that nobody else would notice the end.
    if watch.isOver { context.read() }
  }
}

package import Reactor

/// Stands between clients and a server on this machine, and does to their connections what networks do.
///
/// Faults are switched while it runs. What chance decides follows from the seed and the order of what
/// happens on the connections.
package actor FaultProxy {
  package enum Fault: Sendable, Equatable {
    /// Everything passes.
    case none
    /// Each read passes a time from this range after it came, exact to a tenth of a millisecond, however much is on
    /// its way; the order stays.
    case delay(ms: ClosedRange<UInt64>)
    /// Replies pass byte by byte, each in a turn of its own.
    case fragments
    /// Bytes a second pass at this rate, either way.
    case bandwidth(bytesPerSecond: Int)
    /// Nothing passes; what comes is kept and passes later.
    case stall
    /// Nothing passes and what comes is lost. A connection that lost something is reset when the fault ends.
    case blackhole
    /// The server's side is gone and the client is not told; reset when the fault ends.
    case halfOpen
    /// New connections are reset at once; the old ones live on.
    case refuse
    /// After so many reads of replies part of one passes, then both sides are reset; drawn for each
    /// connection anew.
    case resetMidReply(afterReads: ClosedRange<Int>)
    /// Each connection is reset as by `resetMidReply`, but within what the client sends.
    case resetMidRequest(afterReads: ClosedRange<Int>)
    /// After so many reads of replies one is swallowed whole and the connection closed: the server has
    /// done what it was asked for, and the client does not hear of it.
    case dropReply(afterReads: ClosedRange<Int>)
  }

  private let loop: EventLoop
  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    loop.asUnownedSerialExecutor()
  }
  /// Where it listens on 127.0.0.1.
  package nonisolated let port: UInt16
  /// Touched on the loop only.
  private nonisolated(unsafe) let switchboard: ProxySwitchboard

  /// - Throws: `SystemError` when it cannot listen.
  package init(server: Endpoint, seed: UInt64) throws {
    loop = try EventLoop(name: "fault proxy")
    switchboard = try ProxySwitchboard(loop: loop, server: server, seed: seed)
    port = switchboard.port
    try loop.start()
  }

  deinit {
    // Who let go of it without closing it, as a test that failed does, must not leave its thread behind.
    nonisolated(unsafe) let switchboard = switchboard
    loop.execute { switchboard.close() }
    loop.stop()
  }

  /// From now on this fault, in place of the one before.
  package func set(_ fault: Fault) { switchboard.set(fault) }

  /// Resets all connections now.
  package func cut() { switchboard.cut() }

  /// How often connections were broken: by `cut`, by a reset, or by a reply that was dropped.
  package var breaks: Int { switchboard.breaks }

  /// Bytes that came from clients so far, whatever became of them.
  package var requestBytes: Int { switchboard.requestBytes }

  /// Connections that are open now.
  package var connections: Int { switchboard.count }

  /// How often its loop has waited, for tests of what must not keep it busy.
  package var turns: Int { loop.turns }

  /// Ends it with all connections; closing twice does nothing.
  package func close() {
    switchboard.close()
    loop.stop()
  }
}

internal import Reactor

/// A tunnelling proxy on a loop of its own, for workers in other threads or processes.
package actor EgressProxy {
  private let loop: EventLoop
  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    loop.asUnownedSerialExecutor()
  }
  package nonisolated let url: String
  /// Touched on the loop only.
  private nonisolated(unsafe) let proxy: TunnelProxy

  /// - Throws: `SystemError` when it cannot listen.
  package init(_ way: TunnelProxy.Way, login: String? = nil) throws {
    loop = try EventLoop(name: "egress proxy")
    proxy = try TunnelProxy(loop: loop, way: way, login: login)
    url = proxy.url
    try loop.start()
  }

  deinit {
    // Who let go of it without closing it, as a test that failed does, must not leave its thread behind.
    nonisolated(unsafe) let proxy = proxy
    loop.execute { proxy.close() }
    loop.stop()
  }

  /// Where tunnels led, in order, as `host:port`.
  package var targets: [String] { proxy.targets }
  package var refusals: Int { proxy.refusals }

  package func set(isDown: Bool) { proxy.isDown = isDown }

  /// Cuts every tunnel; new ones are opened.
  package func cut() { proxy.cut() }

  package func close() {
    proxy.close()
    loop.stop()
  }
}

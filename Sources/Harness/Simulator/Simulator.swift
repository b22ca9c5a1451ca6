internal import Glibc
package import LocalServices
package import Model
internal import Reactor
internal import Synchronization

/// A stand-in for APNs, FCM, JPush and Google's OAuth endpoint on one TLS HTTP/2 port, told apart by path:
/// `POST /3/device/<token>`, `POST /v1/projects/<project>/messages:send`, `POST /v3/push` and `POST /token`.
///
/// It checks what the real ones check and misbehaves as its script says. It runs on one thread of its
/// own; everything here may be called from any thread.
package final class Simulator: Sendable {
  /// The server belongs to the loop's thread and is only ever used there.
  private struct Running: @unchecked Sendable {
    let loop: EventLoop
    let server: SimulatorServer
    let port: UInt16
  }

  private struct Lifecycle {
    var running: Running?
    var script: SimulatorScript
  }

  package let options: SimulatorOptions
  private let state = SimulatorState()
  private let lifecycle: Mutex<Lifecycle>

  package init(options: SimulatorOptions) {
    self.options = options
    lifecycle = Mutex(Lifecycle(running: nil, script: options.script))
  }

  deinit { stop() }

  /// Starts listening; returns when connections are accepted. Nothing happens when it runs already.
  package func start() throws(SimulatorError) {
    let failure: SimulatorError? = lifecycle.withLock { lifecycle in
      guard lifecycle.running == nil else { return nil }
      do throws(SimulatorError) {
        lifecycle.running = try launch(script: lifecycle.script)
        return nil
      } catch {
        return error
      }
    }
    if let failure { throw failure }
  }

  /// Cuts all connections and ends the thread. Safe to call twice, and before `start`.
  package func stop() {
    let running = lifecycle.withLock { lifecycle in
      defer { lifecycle.running = nil }
      return lifecycle.running
    }
    guard let running else { return }
    LoopCall.wait(on: running.loop) { running.server.close() }
    running.loop.stop()
    running.loop.join()
  }

  /// The TCP port while it runs; 0 otherwise.
  package var port: UInt16 { lifecycle.withLock { $0.running?.port ?? 0 } }

  /// The counts, complete up to the answers that have left.
  package var counters: SimulatorCounters { state.counters }

  /// The first accepted pushes, at most `SimulatorOptions.keptAcceptsMax`.
  package var acceptedPushes: [AcceptedPush] { state.accepted }

  /// How it misbehaves. A new script holds for every request that is read after the assignment;
  /// rules' `times` begin anew, the connections' counts of requests go on.
  package var script: SimulatorScript {
    get { lifecycle.withLock { $0.script } }
    set {
      lifecycle.withLock { lifecycle in
        lifecycle.script = newValue
        guard let running = lifecycle.running else { return }
        LoopCall.wait(on: running.loop) { running.server.install(newValue) }
      }
    }
  }

  private func launch(script: SimulatorScript) throws(SimulatorError) -> Running {
    let setup = try SimulatorSetup(options: options, script: script)
    let loop: EventLoop
    do {
      loop = try EventLoop(name: "simulator")
      try loop.start()
    } catch {
      throw SimulatorError(.unavailable, "cannot make an event loop: \(error)")
    }
    let state = self.state
    let started: Result<Running, SimulatorError> = LoopCall.wait(on: loop) {
      do throws(SimulatorError) {
        let server = try SimulatorServer(loop: loop, setup: setup, state: state)
        return .success(Running(loop: loop, server: server, port: server.port))
      } catch {
        return .failure(error)
      }
    }
    if case .failure = started {
      loop.stop()
      loop.join()
    }
    return try started.get()
  }
}

/// A push that the simulator accepted, for tests to look at.
package struct AcceptedPush: Sendable, Equatable {
  package let network: Network
  package let token: String
  /// APNs: the topic. FCM: the project. JPush: the collapse ID, or without one the environment of APNs that was asked for.
  package let topic: String
  /// Counts the simulator's connections from 1.
  package let connection: Int
  package let stream: Int32
  /// Equal for equal bodies.
  package let bodyHash: UInt64
  package let acceptedAtMs: Int64
}

internal import ArgumentParser
internal import CLinux
internal import Glibc
internal import ProgramSetup
internal import Reactor
internal import Typesetting

/// The program from its arguments to its exit status.
package enum ServerProgram {
  private static let name = "pushpool-server"

  /// Runs the server until a signal ends it. Call it first thing in `main`, on the main thread.
  package static func main() -> Never {
    StandardDescriptors.takeClosed()
    // Before any other thread exists: they would take the signals in place of the watch.
    let signals = [SIGINT, SIGTERM] + (SignalWatch.isIgnored(SIGHUP) ? [] : [SIGHUP])
    SignalWatch.block(signals)
    let descriptorsMax = Int(clamping: clinux_raise_descriptors_max())
    let loop: EventLoop
    do throws(SystemError) {
      loop = try EventLoop(name: "server")
      try loop.start()
      // Swift's own threads: where the system makes none, it would wait for ever.
      try SystemThread.checkSpare(1 + SystemThread.poolMax)
    } catch {
      fail(CommandFailure(.internalError, "\(error)"))
    }
    let arguments = Array(CommandLine.arguments.dropFirst())
    let stop = StopSignals()
    stop.watch(signals, on: loop)
    Task {
      do throws(CommandFailure) {
        let command = try parse(arguments)
        let server = try await ServerProcess(
          command.settings(), loop: loop, descriptorsMax: descriptorsMax)
        try await server.run(until: stop)
        end(.ok)
      } catch {
        fail(error)
      }
    }
    // The loop runs until the task above ends the process.
    loop.join()
    end(.internalError)
  }

  private static func parse(_ arguments: [String]) throws(CommandFailure) -> ServerCommand {
    try EmptyValue.check(arguments)
    do {
      guard let command = try ServerCommand.parseAsRoot(arguments) as? ServerCommand else {
        throw CleanExit.helpRequest()
      }
      return command
    } catch {
      // Help and version are thrown as well.
      let status = ServerCommand.exitCode(for: error)
      let message = ServerCommand.fullMessage(for: error)
      write(message, to: status.isSuccess ? STDOUT_FILENO : STDERR_FILENO)
      end(status.isSuccess ? .ok : .usage)
    }
  }

  private static func fail(_ failure: CommandFailure) -> Never {
    write("\(name): \(failure.description)", to: STDERR_FILENO)
    end(failure.status)
  }

  private static func write(_ text: String, to descriptor: CInt) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map {
      DisplayText.printable(String($0))
    }
    var whole = lines.joined(separator: "\n") + "\n"
    _ = whole.withUTF8 { OutputFile.write(UnsafeRawBufferPointer($0), to: descriptor) }
  }

  /// Not by exit(3): it takes OpenSSL down under the threads that still use it.
  static func end(_ status: ExitStatus) -> Never {
    LogSink.flush()
    _exit(status.rawValue)
  }
}

package import ArgumentParser
internal import Glibc
internal import ProgramSetup
internal import Reactor
internal import Worker

/// The program from its arguments to its exit status.
package enum Program {
  /// The loop that carries the command's signals and its Redis session.
  @TaskLocal static var loop: EventLoop?

  /// Runs the command of `pushpool` that the process was started with, as ``main(_:)`` does.
  package static func main() -> Never { main(PushpoolCommand.self) }

  /// Runs the command that the process was started with. Call it first thing in `main`, on the main thread.
  /// - Parameter root: the command that the arguments are of, or whose subcommand.
  package static func main(_ root: any ParsableCommand.Type) -> Never {
    StandardDescriptors.takeClosed()
    // Before any other thread exists: they would take the signals in place of the watch.
    let signals = Interrupts.signals
    SignalWatch.block(signals)
    if let lack = DescriptorLimit.lack() {
      Console.standard.note("pushpool: \(lack)")
      exit(ExitStatus.internalError.rawValue)
    }
    let loop: EventLoop
    do throws(SystemError) {
      loop = try EventLoop(name: "command line")
      try loop.start()
      // Swift's own threads, which the command runs on: where the system makes none, it would wait for ever.
      try SystemThread.checkSpare(1 + SystemThread.poolMax)
    } catch {
      Console.standard.note("pushpool: \(error.withLimits)")
      exit(ExitStatus.internalError.rawValue)
    }
    Interrupts.shared.watch(signals, on: loop)
    let arguments = Array(CommandLine.arguments.dropFirst())
    Task {
      let status = await $loop.withValue(loop) { await run(root, arguments) }
      LogSink.flush()
      exit(status)
    }
    // The loop runs until the task above ends the process.
    loop.join()
    exit(ExitStatus.internalError.rawValue)
  }

  private static func run(
    _ root: any ParsableCommand.Type, _ arguments: [String]
  ) async -> Int32 {
    do {
      try EmptyValue.check(arguments)
      try UnknownCommand.check(arguments, of: root)
      var command = try root.parseAsRoot(arguments)
      if var asynchronous = command as? any AsyncParsableCommand {
        try await asynchronous.run()
      } else {
        try command.run()
      }
      Console.standard.finish()
      return ExitStatus.ok.rawValue
    } catch let failure as CommandFailure {
      Console.standard.note("pushpool: \(failure.description)")
      return failure.status == .interrupted
        ? Interrupts.shared.exitStatus : failure.status.rawValue
    } catch {
      return report(error, of: root)
    }
  }

  /// ArgumentParser's own: usage errors, and the requests for help and version that it throws as well.
  private static func report(
    _ error: any Error, of root: any ParsableCommand.Type
  ) -> Int32 {
    let status = root.exitCode(for: error)
    let message = root.fullMessage(for: error)
    if status.isSuccess {
      Console.standard.print(text: message)
      Console.standard.finish()
    } else if !message.isEmpty {
      Console.standard.note(text: message)
    }
    // Whatever is neither ours nor ArgumentParser's is a fault of this program.
    let isFault = status.rawValue == EXIT_FAILURE
    return isFault ? ExitStatus.internalError.rawValue : status.rawValue
  }
}

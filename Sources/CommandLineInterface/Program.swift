internal import ArgumentParser
internal import Glibc
internal import Reactor

/// The program from its arguments to its exit status.
package enum Program {
  /// The loop that carries the command's signals and its Redis session.
  @TaskLocal static var loop: EventLoop?

  /// Runs the command that the process was started with. Call it first thing in `main`, on the main thread.
  package static func main() -> Never {
    StandardDescriptors.takeClosed()
    // Before any other thread exists: they would take the signals in place of the watch.
    SignalWatch.block(Interrupts.signals)
    let loop: EventLoop
    do {
      loop = try EventLoop(name: "command line")
    } catch {
      Console.standard.note("pushpool: \(error)")
      exit(ExitStatus.internalError.rawValue)
    }
    loop.start()
    Interrupts.shared.watch(on: loop)
    let arguments = Array(CommandLine.arguments.dropFirst())
    Task {
      exit(await $loop.withValue(loop) { await run(arguments) })
    }
    // The loop runs until the task above ends the process.
    loop.join()
    exit(ExitStatus.internalError.rawValue)
  }

  private static func run(_ arguments: [String]) async -> Int32 {
    do {
      try EmptyValue.check(arguments)
      var command = try PushpoolCommand.parseAsRoot(arguments)
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
      return report(error)
    }
  }

  /// ArgumentParser's own: usage errors, and the requests for help and version that it throws as well.
  private static func report(_ error: any Error) -> Int32 {
    let status = PushpoolCommand.exitCode(for: error)
    let message = PushpoolCommand.fullMessage(for: error)
    if status.isSuccess {
      Console.standard.print(message)
      Console.standard.finish()
    } else if !message.isEmpty {
      Console.standard.note(message)
    }
    // Whatever is neither ours nor ArgumentParser's is a fault of this program.
    let isFault = status.rawValue == EXIT_FAILURE
    return isFault ? ExitStatus.internalError.rawValue : status.rawValue
  }
}

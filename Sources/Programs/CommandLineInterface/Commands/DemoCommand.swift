internal import ArgumentParser

struct DemoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo",
    abstract: "Send a campaign from Redis to simulated push networks on this machine.",
    discussion: """
      Starts a redis-server, simulated push networks and a worker, installs devices, sends one \
      campaign and shows what became of it. Some devices are gone (they are uninstalled), some \
      pushes meet a busy network (they are retried). Nothing of it stays, also after Ctrl-C.

        pushpool demo
        pushpool demo --installations 200000 --users 100000
        pushpool demo --keep

      The demo is the program pushpool-demo, which must lie beside this one, as must \
      pushpool-simulator.
      """)

  @OptionGroup var options: DemoOptions

  func run() async throws { throw CompanionProgram.demo.become(options.words) }
}

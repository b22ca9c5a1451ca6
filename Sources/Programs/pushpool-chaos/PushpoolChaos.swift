import ArgumentParser
import Chaos

@main
struct PushpoolChaos {
  static func main() async {
    await ChaosCommand.main()
  }
}

import ArgumentParser
import Bench

@main
struct PushpoolBench {
  static func main() async {
    await BenchCommand.main()
  }
}

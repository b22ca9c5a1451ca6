import Demo

@main
struct PushpoolDemo {
  static func main() {
    DemoProgram.main()
  }
}

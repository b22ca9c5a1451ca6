import Server

@main
struct PushpoolServer {
  static func main() {
    ServerProgram.main()
  }
}

import CommandLineInterface

@main
struct Pushpool {
  static func main() {
    Program.main()
  }
}

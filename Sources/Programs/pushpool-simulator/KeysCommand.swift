import ArgumentParser
import LocalServices
import Model
import Simulator

struct KeysCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keys",
    abstract:
      "Make a certificate authority, a server certificate, and an account at each network: "
      + "\(Network.displayNames).",
    discussion: """
      Everything is for tests on this machine: nobody trusts the authority unless told to, and its
      certificates hold for one day. DIR/pushpool.yaml is a configuration for workers.
      """)

  @Argument(
    help: ArgumentHelp("The folder to write to; made when it is missing.", valueName: "dir"))
  var folder: String

  @Option(help: "The port that the simulator will listen on; the files name it.")
  var port: UInt16 = ServeCommand.portDefault

  @Flag(help: "Print one JSON object instead of lines.")
  var json = false

  func run() throws {
    let made: KeyFolder
    do {
      made = try KeyFolder(path: folder, port: port)
    } catch {
      Console.complain("\(error)")
      throw ExitStatus.configuration
    }
    let keys = made.keys
    var files = [
      ("authority", keys.authorityFile), ("certificate", keys.certificate.certificateFile),
      ("key", keys.certificate.keyFile),
    ]
    for account in keys.accounts { files += account.listing.map { ($0.name, $0.value) } }
    files.append(("configuration", made.configurationFile))
    if json {
      Console.say(JSONLine.object(files))
    } else {
      for (name, file) in files { Console.say("\(name): \(file)") }
    }
  }
}

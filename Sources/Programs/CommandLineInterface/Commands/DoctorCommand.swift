internal import ArgumentParser
internal import Model
internal import Operations
internal import ProgramSetup
internal import PushpoolConfiguration
internal import Worker

struct DoctorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Look at configuration, keys, Redis and push networks, and say what to do first.",
    discussion: """
        pushpool doctor --offline
        pushpool doctor --offline --json
        pushpool doctor --config pushpool.yaml
        pushpool doctor --config pushpool.yaml --app shop

      It finds what pushpool check finds, and looks at Redis: version, clock, settings, memory, functions, rights, \
      types of keys, refused writes, and the apps that stand there, which it opens as a worker does. It asks each push \
      network of these apps and of those of the file whether it takes the credential, by a request that is delivered to \
      nobody: a push to a device that cannot exist, or a message that \(Network.namesOfCheckers) only check. \
      --offline leaves the networks out. Run it where a worker runs, with the worker's configuration.

      It looks at \(OperationsLimits.examinedAppsMax) apps in Redis at most, and asks \
      \(OperationsLimits.examinedNetworksMax) networks at most, those of the file first. --app takes one app, whichever it is.

      Nothing is changed, but for one thing: where the fleet has no APNs provider token yet, the doctor signs \
      the one that the workers use from then on. Apple refuses keys whose tokens change too often.

      It ends with 0 when all is well, with 1 when something needs a person, and with 69 when Redis cannot be \
      asked. A network has 10 s for its answer.
      """)

  @Flag(help: "Leave the push networks out.")
  var offline = false

  @Option(help: "Ask this app's networks alone, and open no other app in Redis.")
  var app: String?

  @OptionGroup var shared: SharedOptions

  func run() async throws {
    let check = try shared.check(for: .worker)
    guard let loop = Program.loop else {
      throw CommandFailure(.internalError, "there is no loop to ask from")
    }
    let doctor = Doctor(
      check, isOffline: offline, app: app,
      for: StoreSession.Client(name: "pushpool-doctor", version: PushpoolVersion.text), on: loop)
    let display = ProgressDisplay(label: "looking", total: nil)
    let diagnosis = await doctor.examine { done, total in
      display.update(done: done, total: total)
    }
    display.clear()
    let console = Console.standard.with(diagnosis.isWell ? .endsWell : .isIgnored)
    if shared.json {
      console.print(json: diagnosis.json)
    } else {
      for line in diagnosis.lines(on: console.output) { console.print(line) }
    }
    if diagnosis.lacksRedis {
      throw CommandFailure(.unavailable, "Redis cannot be asked: see above")
    }
    let count = diagnosis.needs.count
    guard count > 0 else { return }
    throw CommandFailure(
      .unsent, "\(count) thing\(count == 1 ? " needs" : "s need") a person")
  }
}

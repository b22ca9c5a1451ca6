import LocalServices
import Model
import Stage
import Typesetting

/// Counts a worker's instructions under valgrind, on a stage where everything else runs freely.
struct InstructionsRun {
  let programs: Programs
  let progress: ProgressLine

  func measure() async throws -> InstructionFigures {
    let few = BenchLimits.instructionsPushesFew
    let many = BenchLimits.instructionsPushesMany
    let jobs = BenchLimits.instructionsJobs
    let population = Population(networks: [.apns], users: many + BenchLimits.warmUpUsers)
    var settings = StageSettings()
    settings.isPatient = true
    return try await BenchStage.with(programs, settings) { stage in
      try await InstallationLoad(
        session: stage.session, population: population, progress: progress
      ).run(0..<population.installations)
      let program = try await stripped(stage)
      var profiles: [CallgrindProfile] = []
      for (pushes, jobs) in [(few, 0), (many, 0), (few, jobs)] {
        progress.say(
          "instructions: \(FigureText.count(pushes)) pushes and \(FigureText.count(jobs)) jobs under callgrind"
        )
        profiles.append(try await profile(program, pushes, jobs: jobs, population, stage))
      }
      return InstructionFigures(
        push: InstructionCount(profiles[0], profiles[1], count: many - few),
        job: InstructionCount(profiles[0], profiles[2], count: jobs))
    }
  }

  /// The worker's program without debug information, which valgrind 3.19 cannot read: Swift 6.3 writes
  /// newer DWARF than it knows.
  private func stripped(_ stage: BenchStage) async throws -> String {
    let path = stage.folder.file("pushpool")
    let strip = try ChildProcess("strip", ["--strip-debug", "-o", path, programs.pushpool])
    guard await strip.waitForExit(timeoutMs: BenchLimits.startMsMax) == .code(0) else {
      throw BenchError("strip cannot copy \(programs.pushpool)")
    }
    return path
  }

  private func profile(
    _ program: String, _ pushes: Int, jobs: Int, _ population: Population, _ stage: BenchStage
  ) async throws -> CallgrindProfile {
    let name = "\(pushes)-\(jobs)"
    let file = stage.folder.file("callgrind.\(name)")
    let worker = try WorkerProcess(
      program: program, configurationFile: stage.configurationFile,
      under: [
        try ChildProcess.find("valgrind"), "--quiet", "--tool=callgrind",
        "--callgrind-out-file=\(file)",
      ])
    let campaign = Campaign(session: stage.session)
    do {
      let many = BenchLimits.instructionsPushesMany
      try await campaign.run(
        Campaign.jobs(
          "warm-up-\(name)", population, Message(), users: many..<population.users),
        accepting: BenchLimits.warmUpUsers)
      try await campaign.run(
        Campaign.jobs("campaign-\(name)", population, Message(), users: 0..<pushes),
        accepting: pushes)
      let ofOneUser = Campaign.ofOneUser("job-\(name)", jobs, population, Message())
      // What waits behind many others on a slow processor takes other ways, the more the slower it is.
      for first in stride(from: 0, to: jobs, by: BenchLimits.instructionsJobsAtOnce) {
        let some = ofOneUser[first..<min(first + BenchLimits.instructionsJobsAtOnce, jobs)]
        try await campaign.run(Array(some), accepting: some.count)
      }
    } catch {
      await worker.stop()
      throw error
    }
    await worker.stop(graceMs: BenchLimits.instructionsStopMsMax)
    guard let text = TextFile.read(file, bytesMax: BenchLimits.profileBytesMax),
      let profile = CallgrindProfile(text)
    else { throw BenchError("callgrind wrote no profile") }
    return profile
  }
}

package import LocalServices

/// The surroundings of workers, real and on this machine: a redis-server, the keys that workers and the push networks'
/// stand-in know each other by, a port to play the networks on, and a folder for everything else.
///
/// The networks are played by a process of their own (``withSimulator(_:_:_:)``), or by whoever owns the stage.
package final class Stage: Sendable {
  package let folder: TemporaryFolder
  package let redis: RedisServer
  package let keys: NetworkKeys
  /// The port of localhost that the keys name, free a moment ago.
  package let port: UInt16

  private init(folder: TemporaryFolder, redis: RedisServer, keys: NetworkKeys, port: UInt16) {
    self.folder = folder
    self.redis = redis
    self.keys = keys
    self.port = port
  }

  /// Runs the body on a stage, and takes the stage down after it, whatever happened.
  package static func with<Result>(
    _ server: RedisServer.Options = RedisServer.Options(), _ body: (Stage) async throws -> Result
  ) async throws -> Result {
    let folder = try TemporaryFolder()
    defer { folder.close() }
    let port = try FreePort.find()
    let keys = try NetworkKeys(folder: folder.path, port: port)
    return try await RedisServer.with(server) { redis in
      try await body(Stage(folder: folder, redis: redis, keys: keys, port: port))
    }
  }

  /// Where the networks are played.
  package var endpoint: String { "https://localhost:\(port)" }

  /// Plays the networks in a process of its own until the body has returned.
  /// - Parameter program: the path of pushpool-simulator.
  package func withSimulator<Result>(
    _ program: String, _ options: SimulatorProcess.Options,
    _ body: (SimulatorProcess) async throws -> Result
  ) async throws -> Result {
    let simulator = try await SimulatorProcess(program: program, options, on: self)
    do {
      let result = try await body(simulator)
      await simulator.stop()
      return result
    } catch {
      await simulator.stop()
      throw error
    }
  }

  /// Writes a configuration into the folder, readable by its owner only. - Returns: its path.
  package func write(
    _ configuration: ConfigurationText, to name: String = "pushpool.yaml"
  ) throws(LocalServiceError) -> String {
    let file = folder.file(name)
    try PrivateFile.write(configuration.text(keys), to: file)
    return file
  }
}

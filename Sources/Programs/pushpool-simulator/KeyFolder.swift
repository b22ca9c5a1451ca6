import Glibc
import LocalServices
import Model

/// A folder with all that a simulator and its workers need to trust each other.
struct KeyFolder {
  let keys: NetworkKeys
  let configurationFile: String

  /// Makes the folder's files anew; those of the same names are replaced.
  init(path: String, port: UInt16) throws(LocalServiceError) {
    if mkdir(path, 0o700) != 0 && errno != EEXIST {
      throw LocalServiceError("cannot make the folder \(path): \(String(cString: strerror(errno)))")
    }
    keys = try NetworkKeys(folder: path, port: port)
    configurationFile = "\(path)/pushpool.yaml"
    let endpoint = "https://localhost:\(port)"
    let configuration = ConfigurationText(
      redisURL: "redis://127.0.0.1:6379/0",
      apps: [
        ConfigurationText.App(
          apns: [.production: endpoint], others: ConfigurationText.App.others(at: endpoint))
      ])
    try TextFile.write(
      "# Points workers at a pushpool-simulator on port \(port) of this machine.\n"
        + configuration.text(keys), to: configurationFile)
  }
}

internal import PushpoolConfiguration
internal import Reactor

/// Reads what the configuration of apps names as files, each file once.
final class AppFiles {
  private var contents: [String: MaterialBytes] = [:]
  private var problems: [MaterialProblem] = []

  /// Reads the files of an app.
  /// - Returns: all that it sends with, or each file of it that cannot be read.
  func material(of app: AppConfiguration) -> Result<AppMaterial, MaterialProblems> {
    material(of: app, app.networks.settings)
  }

  /// Reads the files of an app for each of its accounts by itself, as if it had no other.
  func materials(of app: AppConfiguration) -> [Result<AppMaterial, MaterialProblems>] {
    app.networks.settings.map { material(of: app, [$0]) }
  }

  private func material(
    of app: AppConfiguration, _ accounts: [any AccountSettings]
  ) -> Result<AppMaterial, MaterialProblems> {
    problems = []
    let material = AppMaterial(
      id: app.id, pushesPerSecond: app.pushesPerSecond,
      accounts: accounts.compactMap { $0.material(from: self) })
    return problems.isEmpty
      ? .success(material) : .failure(MaterialProblems(problems))
  }

  // MARK: What accounts ask for

  /// How a network is reached; nil when a file of that cannot be read.
  func access(_ access: Access, _ part: String) -> AccessMaterial? {
    var material = AccessMaterial(
      address: access.endpoint.map { ServiceAddress(host: $0.host, port: $0.port) })
    let before = problems.count
    if let caFile = access.caFile {
      material.authorities = file(
        caFile, "\(part).ca_file", bytesMax: ReactorLimits.authoritiesFileBytesMax)
    }
    if let proxy = access.proxy {
      let login = access.proxyLogin.flatMap { known in
        secret(known.passwordFile, "\(part).proxy_password_file").map {
          ProxyServer.Login(
            user: known.user, password: String(decoding: $0.bytes, as: UTF8.self))
        }
      }
      material.proxy = ProxyServer(proxy, login: login)
    }
    return problems.count == before ? material : nil
  }

  /// The content of a file; nil when it cannot be read.
  func file(
    _ path: String, _ part: String, bytesMax: Int = ReactorLimits.keyFileBytesMax
  ) -> MaterialBytes? {
    if let known = contents[path], known.bytes.count <= bytesMax { return known }
    do throws(CredentialFileError) {
      let content = MaterialBytes(try CredentialFile.read(path, bytesMax: bytesMax), source: path)
      contents[path] = content
      return content
    } catch {
      problems.append(MaterialProblem(part: part, source: path, message: error.description))
      return nil
    }
  }

  /// The text of a file with one secret; nil when it cannot be read.
  func secret(_ path: String, _ part: String) -> MaterialBytes? {
    do throws(ConfigurationError) {
      return MaterialBytes(Array(try SecretFile.read(path, field: part).text.utf8), source: path)
    } catch {
      problems.append(
        MaterialProblem(part: part, source: path, message: "\(path) \(error.message)"))
      return nil
    }
  }
}

/// The parts of one app's material that cannot be used; one at least.
package struct MaterialProblems: Error, Sendable, Equatable {
  package let all: [MaterialProblem]
  /// How many entries of a directory the app would be, where there is no place for them; nil where something else is wrong.
  let placesNeeded: Int?

  init(_ all: [MaterialProblem], placesNeeded: Int? = nil) {
    self.all = all
    self.placesNeeded = placesNeeded
  }
}

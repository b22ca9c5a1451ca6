internal import Model
internal import PushpoolConfiguration
internal import Reactor

/// Reads what the configuration of apps names as files, each file once.
final class AppFiles {
  private var contents: [String: MaterialBytes] = [:]
  private var problems: [MaterialProblem] = []

  /// Reads the files of an app.
  /// - Returns: all that it sends with, or each file of it that cannot be read.
  func material(of app: AppConfiguration) -> Result<AppMaterial, MaterialProblems> {
    problems = []
    var material = AppMaterial(id: app.id, pushesPerSecond: app.pushesPerSecond)
    for environment in PushEnvironment.allCases {
      guard let apns = app.apns[environment] else { continue }
      material.apns[environment] = read(apns, part: "apns.\(environment.rawValue)")
    }
    material.fcm = app.fcm.flatMap { read($0, part: "fcm") }
    material.jpush = app.jpush.flatMap { read($0, part: "jpush") }
    return problems.isEmpty
      ? .success(material) : .failure(MaterialProblems(problems))
  }

  private func read(_ apns: APNsConfiguration, part: String) -> APNsMaterial? {
    let access = access(apns.access, part)
    let credential: APNsMaterial.Credential?
    switch apns.credential {
    case .token(let keyFile, let keyID, let teamID):
      credential = file(keyFile, "\(part).key_file").map {
        .token(key: $0, keyID: keyID, teamID: teamID)
      }
    case .certificate(let file, let passwordFile):
      let certificate = self.file(file, "\(part).certificate_file")
      let password = passwordFile.flatMap { secret($0, "\(part).password_file") }
      let isWhole = passwordFile == nil || password != nil
      credential =
        isWhole ? certificate.map { .certificate($0, password: password) } : nil
    }
    guard let access, let credential else { return nil }
    return APNsMaterial(credential: credential, topic: apns.topic, access: access)
  }

  private func read(_ fcm: FCMConfiguration, part: String) -> FCMMaterial? {
    let access = access(fcm.access, part)
    let account = file(fcm.serviceAccountFile, "\(part).service_account_file")
    guard let access, let account else { return nil }
    return FCMMaterial(
      account: account, tokenEndpoint: fcm.tokenEndpoint?.description,
      messagesPerMinute: fcm.messagesPerMinute, access: access)
  }

  private func read(_ jpush: JPushConfiguration, part: String) -> JPushMaterial? {
    let access = access(jpush.access, part)
    let secret = secret(jpush.masterSecretFile, "\(part).master_secret_file")
    guard let access, let secret else { return nil }
    return JPushMaterial(appKey: jpush.appKey, masterSecret: secret, access: access)
  }

  private func access(_ access: Access, _ part: String) -> AccessMaterial? {
    var material = AccessMaterial(
      address: access.endpoint.map { ServiceAddress(host: $0.host, port: $0.port) })
    let before = problems.count
    if let caFile = access.caFile {
      material.authorities = file(
        caFile, "\(part).ca_file", bytesMax: ReactorLimits.authoritiesFileBytesMax)
    }
    if let proxy = access.proxy {
      let way: ProxyServer.Way =
        switch proxy.scheme {
        case .http: .http
        case .socks5: .socks5
        case .socks5h: .socks5h
        }
      let login = access.proxyLogin.flatMap { known in
        secret(known.passwordFile, "\(part).proxy_password_file").map {
          ProxyServer.Login(
            user: known.user, password: String(decoding: $0.bytes, as: UTF8.self))
        }
      }
      material.proxy = ProxyServer(way, host: proxy.host, port: proxy.port, login: login)
    }
    return problems.count == before ? material : nil
  }

  // MARK: One file

  private func file(
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

  /// The text of a file with one secret.
  private func secret(_ path: String, _ part: String) -> MaterialBytes? {
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

  init(_ all: [MaterialProblem]) { self.all = all }
}

internal import HTTPClient
package import Model
package import PushpoolConfiguration
internal import Reactor

extension AppMaterial {
  /// The material of an app that stands in Redis.
  /// - Parameter secrets: all that the form requires.
  package init(id: String, _ form: AppForm, secrets: [AppSecretName: AppSecret]) {
    let given = GivenSecrets(secrets)
    self.init(
      id: id, pushesPerSecond: form.rules.pushesPerSecond,
      accounts: form.accountForms.compactMap { $0.material(with: given) })
    standsInRedis = true
  }

  /// Says what is wrong with the material, as providers are made of it. It takes as long as a secret wants, so no loop is to wait
  /// for it.
  package func check() throws(InvalidField) { _ = try ProviderDirectory(rendering: self) }
}

extension ProviderDirectory {
  /// The providers of one app of Redis, which send nothing. Making them takes as long as a secret wants.
  package init(rendering material: AppMaterial) throws(InvalidField) {
    var builder = ProviderBuilder.ofCheck
    do throws(MaterialProblems) { try builder.add(material) } catch {
      if let problem = error.all.first { throw problem.ofForm }
    }
    self = builder.directory()
  }
}

extension ProviderBuilder {
  /// For providers that send nothing. All have one client and one store of the system's authorities, which takes long to read.
  fileprivate static var ofCheck: ProviderBuilder {
    var sources = ProviderSources()
    if let systemTrust { sources.trust.updateValue(systemTrust, forKey: nil) }
    return ProviderBuilder(client: client, clock: .system, sources: sources)
  }

  private static let client = HTTPClient()
  private static let systemTrust = try? TrustStore(authorities: nil, file: "")
}

/// The secrets that are given with the form of an app.
struct GivenSecrets {
  /// The name of a value in messages that would name a file: its place is told beside it.
  private static let source = "the value"
  private let secrets: [AppSecretName: AppSecret]

  init(_ secrets: [AppSecretName: AppSecret]) { self.secrets = secrets }

  subscript(name: AppSecretName) -> MaterialBytes? {
    secrets[name].map { MaterialBytes($0.bytes, source: Self.source, place: .redis) }
  }

  /// How a network is reached.
  /// - Parameter password: the name of the proxy's.
  func access(_ access: AppForm.Access, password: AppSecretName) -> AccessMaterial {
    var material = AccessMaterial(
      address: access.endpoint.map { ServiceAddress(host: $0.host, port: $0.port) },
      authorities: access.authorities.map {
        MaterialBytes(Array($0.utf8), source: Self.source, place: .redis)
      })
    guard let proxy = access.proxy else { return material }
    let login = access.proxyUser.flatMap { user in
      self[password].map {
        ProxyServer.Login(user: user, password: String(decoding: $0.bytes, as: UTF8.self))
      }
    }
    material.proxy = ProxyServer(proxy, login: login)
    return material
  }
}

extension ProxyServer {
  /// The proxy of a URL.
  init(_ url: ProxyURL, login: Login?) {
    let way: Way =
      switch url.scheme {
      case .http: .http
      case .socks5: .socks5
      case .socks5h: .socks5h
      }
    self.init(way, host: url.host, port: url.port, login: login)
  }
}

extension MaterialProblem {
  /// The part's name where the app is described by a form: what the configuration has as a file stands there itself.
  package var partOfForm: String { part.hasSuffix("_file") ? String(part.dropLast(5)) : part }

  /// The complaint about the field of a form.
  var ofForm: InvalidField {
    let part = partOfForm
    return InvalidField(
      pointer: part.isEmpty ? "" : "/" + part.replacing(".", with: "/"), message: message)
  }
}

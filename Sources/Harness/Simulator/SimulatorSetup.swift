internal import Glibc
internal import Reactor

/// The needs of a server, of which any can be wrong before it listens: keys, certificates, files.
///
/// Unchecked Sendable: made on one thread, then handed to the loop and not used elsewhere.
struct SimulatorSetup: @unchecked Sendable {
  let options: SimulatorOptions
  let tls: TLSContext
  let networks: PushNetworks
  let log: AcceptLog?

  init(options: SimulatorOptions, script: SimulatorScript) throws(SimulatorError) {
    self.options = options
    do {
      tls = try TLSContext.server(
        certificateFile: options.certificateFile, keyFile: options.keyFile, alpn: ["h2"],
        clientCAFile: options.clientAuthorityFile)
    } catch {
      throw SimulatorError(.configuration, "\(error)")
    }
    var keys: [(KnownAPNsKey, VerificationKey)] = []
    for key in options.apnsKeys {
      let verification = try VerificationKey(pem: Self.read(key.file), name: key.file)
      guard verification.isEllipticCurve else {
        throw SimulatorError(
          .configuration, "\(key.file) is no elliptic-curve key: ES256 needs one on P-256")
      }
      keys.append((key, verification))
    }
    var accounts: [ServiceAccount] = []
    for file in options.serviceAccountFiles {
      accounts.append(try ServiceAccount(json: Self.read(file), name: file))
    }
    var secrets: [String: String] = [:]
    for app in options.jpushApps {
      let secret = String(decoding: try Self.read(app.secretFile), as: UTF8.self)
      secrets[app.appKey] = String(secret.prefix { !$0.isNewline })
    }
    networks = PushNetworks(
      environment: options.environment, script: script,
      provider: ProviderTokenVerifier(keys: keys), oauth: OAuthEndpoint(accounts: accounts),
      jpush: JPushNetwork(apps: JPushApps(secrets: secrets)))
    var log: AcceptLog?
    if let path = options.acceptLogFile { log = try AcceptLog(path: path) }
    self.log = log
  }

  private static func read(_ path: String) throws(SimulatorError) -> [UInt8] {
    try BoundedFile.read(path, bytesMax: SimulatorLimits.keyFileBytesMax)
  }
}

import LocalServices
import Reactor

/// A throwaway authority and a server of its own, in a folder that goes away with it.
final class TestCertificates: Sendable {
  let folder: TemporaryFolder
  let authority: CertificateAuthority
  let server: IssuedCertificate

  init(serverNames: [String] = ["localhost", "127.0.0.1", "::1"]) throws {
    folder = try TemporaryFolder()
    authority = try CertificateAuthority(folder: folder.path)
    server = try authority.issueServer(names: serverNames)
  }

  deinit { folder.close() }

  func serverContext(alpn: [String] = [], asksForCertificate: Bool = false) throws -> TLSContext {
    try .server(
      certificateFile: server.certificateFile, keyFile: server.keyFile, alpn: alpn,
      clientCAFile: asksForCertificate ? authority.certificateFile : nil)
  }

  func clientContext(alpn: [String] = [], identity: ClientIdentity? = nil) throws -> TLSContext {
    try .client(caFile: authority.certificateFile, identity: identity, alpn: alpn)
  }
}

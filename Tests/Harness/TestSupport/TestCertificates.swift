package import LocalServices
package import Reactor

/// A throwaway authority and a server of its own, in a folder that goes away with it.
package final class TestCertificates: Sendable {
  package let folder: TemporaryFolder
  package let authority: CertificateAuthority
  package let server: IssuedCertificate

  package init(serverNames: [String] = ["localhost", "127.0.0.1", "::1"]) throws {
    folder = try TemporaryFolder()
    authority = try CertificateAuthority(folder: folder.path)
    server = try authority.issueServer(names: serverNames)
  }

  deinit { folder.close() }

  package func serverContext(alpn: [String] = [], asksForCertificate: Bool = false) throws
    -> TLSContext
  {
    try .server(
      certificateFile: server.certificateFile, keyFile: server.keyFile, alpn: alpn,
      clientCAFile: asksForCertificate ? authority.certificateFile : nil)
  }

  package func clientContext(alpn: [String] = [], identity: ClientIdentity? = nil) throws
    -> TLSContext
  {
    try .client(caFile: authority.certificateFile, identity: identity, alpn: alpn)
  }
}

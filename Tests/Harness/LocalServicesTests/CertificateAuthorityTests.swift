import Glibc
import LocalServices
import Model
import Testing

@Suite struct CertificateAuthorityTests {
  let folder: TemporaryFolder
  let authority: CertificateAuthority

  init() throws {
    folder = try TemporaryFolder()
    authority = try CertificateAuthority(folder: folder.path)
  }

  @Test(
    "a server certificate verifies for each of its names, and for no other",
    arguments: [
      ("-verify_hostname", "localhost", true), ("-verify_hostname", "api.push.test", true),
      ("-verify_ip", "127.0.0.1", true), ("-verify_ip", "::1", true),
      ("-verify_hostname", "example.com", false), ("-verify_ip", "127.0.0.2", false),
    ])
  func serverNames(option: String, name: String, isValid: Bool) async throws {
    let issued = try authority.issueServer(names: ["localhost", "127.0.0.1", "::1", "*.push.test"])
    let answer = try await openssl(
      "verify", "-x509_strict", "-purpose", "sslserver", "-CAfile", authority.certificateFile,
      option, name, issued.certificateFile)
    #expect(answer.exit == .code(isValid ? 0 : 2), "\(answer.text)")
  }

  @Test("a certificate does not verify under another authority")
  func otherAuthority() async throws {
    let otherFolder = try TemporaryFolder()
    let other = try CertificateAuthority(folder: otherFolder.path)
    let issued = try authority.issueServer()
    let answer = try await openssl(
      "verify", "-CAfile", other.certificateFile, issued.certificateFile)
    #expect(answer.exit != .code(0))
  }

  @Test("a client certificate is for clients, and its PKCS #12 file opens with its password only")
  func client() async throws {
    let issued = try authority.issueClient(
      commonName: "Apple Push Services: com.example.shop", fileName: "push", p12Password: "s3cret")
    let file = try #require(issued.p12File)
    let verified = try await openssl(
      "verify", "-purpose", "sslclient", "-CAfile", authority.certificateFile,
      issued.certificateFile)
    #expect(verified.exit == .code(0), "\(verified.text)")
    let opened = try await openssl("pkcs12", "-in", file, "-passin", "pass:s3cret", "-noenc")
    #expect(opened.exit == .code(0))
    #expect(opened.text.contains("-----BEGIN PRIVATE KEY-----"))
    #expect(opened.text.contains("com.example.shop"))
    let refused = try await openssl("pkcs12", "-in", file, "-passin", "pass:wrong", "-noenc")
    #expect(refused.exit != .code(0))
  }

  @Test("the key belongs to the certificate, and only the owner may read any file")
  func keyAndModes() async throws {
    let issued = try authority.issueServer()
    let ofKey = try await openssl("pkey", "-in", issued.keyFile, "-pubout")
    let ofCertificate = try await openssl(
      "x509", "-in", issued.certificateFile, "-noout", "-pubkey")
    #expect(ofKey.exit == .code(0))
    #expect(ofKey.text == ofCertificate.text)
    for file in [issued.certificateFile, issued.keyFile, issued.combinedFile] {
      #expect(mode(of: file) == 0o600, "\(file)")
    }
  }

  @Test("a name that is no name is refused", arguments: ["", "a b", "x,DNS:evil", "näme"])
  func badName(name: String) {
    #expect(throws: LocalServiceError.self) { try authority.issueServer(names: [name]) }
  }

  @Test("a signing key for APNs is an EC P-256 key in PKCS #8")
  func signingKey() async throws {
    let key = try APNsSigningKey(folder: folder.path, keyID: "KEY1234567")
    #expect(key.file.hasSuffix("/AuthKey_KEY1234567.p8"))
    #expect(mode(of: key.file) == 0o600)
    let shown = try await openssl("pkey", "-in", key.file, "-text", "-noout")
    #expect(shown.text.contains("NIST CURVE: P-256"))
    let publicHalf = try await openssl("pkey", "-in", key.file, "-pubout")
    #expect(publicHalf.text == key.publicKeyPEM)
  }

  @Test("a service account is JSON with an RSA 2048 key")
  func serviceAccount() async throws {
    let account = try FCMServiceAccount(
      folder: folder.path, projectID: "shop-1", tokenURI: "https://localhost:1/token?\"q\"")
    #expect(mode(of: account.file) == 0o600)
    let text = try #require(TextFile.bytes(account.file, bytesMax: 1 << 16))
    let fields = try #require(try JSONParser().parse(text).objectValue)
    #expect(fields["type"]?.stringValue == "service_account")
    #expect(fields["project_id"]?.stringValue == "shop-1")
    #expect(fields["client_email"]?.stringValue == account.clientEmail)
    #expect(fields["token_uri"]?.stringValue == "https://localhost:1/token?\"q\"")
    let key = try #require(fields["private_key"]?.stringValue)
    let stream = try #require(fopen("\(account.file).key", "we"))
    fputs(key, stream)
    fclose(stream)
    let shown = try await openssl("pkey", "-in", "\(account.file).key", "-text", "-noout")
    #expect(shown.text.contains("2048 bit"))
    let publicHalf = try await openssl("pkey", "-in", "\(account.file).key", "-pubout")
    #expect(publicHalf.text == account.publicKeyPEM)
  }

  private func mode(of file: String) -> mode_t? {
    var status = stat()
    return stat(file, &status) == 0 ? status.st_mode & 0o777 : nil
  }

  private func openssl(
    _ arguments: String...
  ) async throws -> (exit: ChildProcess.Exit?, text: String) {
    let child = try ChildProcess("openssl", arguments, output: .pipe, error: .discard)
    let text = await child.standardOutput?.rest(timeoutMs: 10_000) ?? ""
    return (await child.waitForExit(timeoutMs: 10_000), text)
  }
}

import Foundation
import Reactor
import TestSupport
import Testing

@testable import HTTPClient

@Suite("HTTP client")
struct HTTPClientTests {
  let client = HTTPClient()

  @Test("a request arrives with its method, path, headers and body, and the response comes back")
  func exchange() async throws {
    let server = LocalServer { request in
      let line = request.head.split(separator: "\r\n")[0]
      let hasHeader = request.head.contains("X-Probe: a b")
      return LocalServer.response(
        status: "201 Created", headers: "X-Answer:  yes\r\nX-Answer: no\r\n",
        body: "\(line)|\(hasHeader)|\(request.body)")
    }
    defer { server.close() }
    let response = try await client.perform(
      HTTPRequest(
        method: "POST", url: "http://127.0.0.1:\(server.port)/a?b=c",
        headers: [("X-Probe", "a b"), ("Content-Type", "text/plain")], body: Array("hello".utf8)))
    #expect(response.status == 201)
    #expect(response.header("x-answer") == "yes")
    #expect(response.headers.filter { $0.name == "x-answer" }.count == 2)
    #expect(String(decoding: response.body, as: UTF8.self) == "POST /a?b=c HTTP/1.1|true|hello")
  }

  @Test("a response of an error status is an answer, not an error")
  func errorStatus() async throws {
    let server = LocalServer { _ in
      LocalServer.response(status: "503 Service Unavailable", body: "later")
    }
    defer { server.close() }
    let response = try await client.perform(HTTPRequest(url: "http://127.0.0.1:\(server.port)/"))
    #expect(response.status == 503)
    #expect(response.body == Array("later".utf8))
  }

  @Test("a redirect is not followed")
  func redirect() async throws {
    let server = LocalServer { _ in
      LocalServer.response(status: "302 Found", headers: "Location: /elsewhere\r\n", body: "")
    }
    defer { server.close() }
    let response = try await client.perform(HTTPRequest(url: "http://127.0.0.1:\(server.port)/"))
    #expect(response.status == 302)
    #expect(server.requestCount == 1)
  }

  @Test("a request with a proxy goes to the proxy, which is told the whole URL")
  func proxy() async throws {
    let server = LocalServer { request in
      LocalServer.response(body: String(request.head.prefix { $0 != "\r\n" }))
    }
    defer { server.close() }
    let response = try await client.perform(
      HTTPRequest(
        url: "http://name.invalid/a",
        proxy: ProxyServer(.http, host: "127.0.0.1", port: server.port)))
    #expect(
      String(decoding: response.body, as: UTF8.self) == "GET http://name.invalid/a HTTP/1.1")
  }

  @Test("a proxy that opens no tunnel is named with its reason, and not with its login")
  func proxyRefusal() async {
    let server = LocalServer { _ in
      LocalServer.response(status: "407 wr0ng", body: "")
    }
    defer { server.close() }
    let login = ProxyServer.Login(user: "push", password: "wr0ng")
    for (login, words) in [
      (nil, "wants a login: give proxy_user and proxy_password_file (407)"),
      (login, "refuses the login: check proxy_user and proxy_password_file (407)"),
    ] {
      do {
        _ = try await client.perform(
          HTTPRequest(
            url: "https://name.invalid/a",
            proxy: ProxyServer(.http, host: "127.0.0.1", port: server.port, login: login)))
        Issue.record("there was a tunnel")
      } catch {
        #expect(error.code == .proxy)
        #expect(
          error.message == "https://name.invalid: the proxy 127.0.0.1:\(server.port) \(words)")
      }
    }
  }

  @Test("a body over the limit ends the transfer")
  func tooLarge() async throws {
    let server = LocalServer { _ in
      LocalServer.response(
        body: String(repeating: "x", count: HTTPClientLimits.bodyBytesMax + 1))
    }
    defer { server.close() }
    #expect(
      await failure(HTTPRequest(url: "http://127.0.0.1:\(server.port)/")) == .responseTooLarge)
  }

  @Test("a body of exactly the limit is kept")
  func justFits() async throws {
    let server = LocalServer { _ in
      LocalServer.response(body: String(repeating: "x", count: HTTPClientLimits.bodyBytesMax))
    }
    defer { server.close() }
    let response = try await client.perform(HTTPRequest(url: "http://127.0.0.1:\(server.port)/"))
    #expect(response.body.count == HTTPClientLimits.bodyBytesMax)
  }

  @Test("a server that does not answer ends in a timeout while others are served")
  func timeout() async throws {
    let gate = DispatchSemaphore(value: 0)
    let silent = LocalServer { _ in
      gate.wait()
      return ""
    }
    defer { silent.close() }
    let quick = LocalServer { _ in LocalServer.response(body: "quick") }
    defer { quick.close() }
    async let stalled = failure(
      HTTPRequest(url: "http://127.0.0.1:\(silent.port)/", timeoutMs: 300))
    let response = try await client.perform(HTTPRequest(url: "http://127.0.0.1:\(quick.port)/"))
    #expect(response.status == 200)
    #expect(await stalled == .timedOut)
    gate.signal()
  }

  @Test(
    "other schemes are refused",
    arguments: ["file:///etc/passwd", "ftp://127.0.0.1/", "gopher://h/"])
  func schemes(url: String) async {
    #expect(await failure(HTTPRequest(url: url)) == .invalidRequest)
  }

  @Test("a control character in a header, method or URL is refused before anything is sent")
  func controlCharacters() async {
    let server = LocalServer { _ in LocalServer.response(body: "") }
    defer { server.close() }
    let url = "http://127.0.0.1:\(server.port)/"
    #expect(
      await failure(HTTPRequest(url: url, headers: [("A", "b\r\nC: d")])) == .invalidRequest)
    #expect(await failure(HTTPRequest(url: url, headers: [("A:b", "c")])) == .invalidRequest)
    #expect(await failure(HTTPRequest(method: "GET /\r\n", url: url)) == .invalidRequest)
    #expect(await failure(HTTPRequest(url: url + "\n")) == .invalidRequest)
    #expect(server.requestCount == 0)
  }

  @Test("a closed port is reported as unreachable with the origin but without the path")
  func unreachable() async {
    do {
      _ = try await client.perform(HTTPRequest(url: "http://user:secret@127.0.0.1:1/secret?secret"))
      Issue.record("port 1 answered")
    } catch {
      #expect(error.code == .unreachable)
      #expect(error.message.contains("http://127.0.0.1:1"))
      #expect(!error.message.contains("secret"))
    }
  }

  @Test("requests beyond the bound are refused as busy, and a shut down client fails what it had")
  func bounded() async {
    let gate = DispatchSemaphore(value: 0)
    let silent = LocalServer { _ in
      gate.wait()
      return ""
    }
    defer { silent.close() }
    defer { gate.signal() }
    let client = HTTPClient()
    let url = "http://127.0.0.1:\(silent.port)/"
    let codes = await withTaskGroup(of: HTTPClientError.Code?.self) { group in
      for _ in 0...HTTPClientLimits.requestsMax {
        group.addTask { await failure(HTTPRequest(url: url, timeoutMs: 60_000), of: client) }
      }
      // Only the one too many can end before the client is shut down.
      var codes = [await group.next()!]
      client.shutdown()
      for await code in group { codes.append(code) }
      return codes
    }
    #expect(codes[0] == .busy)
    #expect(codes.dropFirst().allSatisfy { $0 == .closed })
    #expect(await failure(HTTPRequest(url: url), of: client) == .closed)
  }

  @Test("a certificate of an unknown authority is refused, and accepted with its authority's file")
  func verification() async throws {
    let server = try await TLSServer()
    let url = "https://localhost:\(server.port)/"
    #expect(await failure(HTTPRequest(url: url)) == .insecure)
    let authorities = try TrustStore.pem(server.certificateFile)
    let response = try await client.perform(HTTPRequest(url: url, authorities: authorities))
    #expect(response.status == 200)
    let der = "\(server.certificateFile).der"
    try OpenSSLCommand.run(
      "x509", "-in", server.certificateFile, "-outform", "DER", "-out", der)
    #expect(try TrustStore.pem(der) == authorities)
    #expect(await failure(HTTPRequest(url: url, authorities: Array("none".utf8))) == .insecure)
    // The certificate is for localhost only.
    #expect(
      await failure(
        HTTPRequest(url: "https://127.0.0.1:\(server.port)/", authorities: authorities))
        == .insecure)
  }

  @Test("a certificate whose only name is its common name is refused")
  func commonNameOnly() async throws {
    let server = try await TLSServer(hasCommonNameOnly: true)
    let request = HTTPRequest(
      url: "https://localhost:\(server.port)/",
      authorities: try TrustStore.pem(server.certificateFile))
    #expect(await failure(request) == .insecure)
  }

  /// The code of the error that the request ends with; nil when it succeeds.
  private func failure(
    _ request: HTTPRequest, of other: HTTPClient? = nil
  ) async -> HTTPClientError.Code? {
    do {
      _ = try await (other ?? client).perform(request)
      return nil
    } catch {
      return error.code
    }
  }
}

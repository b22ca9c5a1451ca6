import Glibc
import LocalServices
import Model
import Testing

@Suite struct NginxTests {
  private static let program = "/usr/sbin/nginx"

  @Test(
    "nginx in the provider's place gets every push, over its GOAWAYs and early answers",
    .enabled(if: access(program, X_OK) == 0, "nginx is not installed at /usr/sbin/nginx"))
  func deliversToNginx() async throws {
    let port = try FreePort.find()
    try await PushStage.with(endpoints: PushStage.Endpoints(apnsPort: port, hasFCM: false)) {
      stage in
      let nginx = try Self.start(stage, port: port)
      try await stage.client.install(try Devices.apns(0..<5_000))
      try await stage.withWorkers { _ in
        _ = try await stage.client.enqueue(Devices.job("nginx", 0..<5_000))
        let record = try await stage.client.finishedInHaste("nginx")
        #expect(record.counts.accepted == 5_000)
        #expect(record.total == 5_000)
        #expect(record.counts.retries == 0)
        #expect(record.isBalanced)
      }
      await nginx.terminate()
      let paths = try Self.lines(of: stage.folder.file("access.log"))
      #expect(Set(paths).count == 5_000, "lost pushes")
      #expect(paths.count == 5_000, "sent twice")
    }
  }

  /// It closes a connection after 1,000 requests, with a GOAWAY.
  private static func start(_ stage: PushStage, port: UInt16) throws -> ChildProcess {
    let file = stage.folder.file("nginx.conf")
    let text = """
      daemon off;
      worker_processes 1;
      pid \(stage.folder.file("nginx.pid"));
      error_log \(stage.folder.file("error.log")) warn;
      events { worker_connections 64; }
      http {
        log_format path "$status $uri";
        access_log \(stage.folder.file("access.log")) path;
        client_body_temp_path \(stage.folder.file("body"));
        proxy_temp_path \(stage.folder.file("proxy"));
        fastcgi_temp_path \(stage.folder.file("fastcgi"));
        uwsgi_temp_path \(stage.folder.file("uwsgi"));
        scgi_temp_path \(stage.folder.file("scgi"));
        keepalive_requests 1000;
        server {
          listen 127.0.0.1:\(port) ssl http2;
          ssl_certificate \(stage.certificate.certificateFile);
          ssl_certificate_key \(stage.certificate.keyFile);
          location / { return 200; }
        }
      }
      """
    let stream = try #require(fopen(file, "we"))
    fputs(text, stream)
    fclose(stream)
    return try ChildProcess(
      program, ["-c", file, "-p", stage.folder.path], output: .discard,
      error: .file(stage.folder.file("nginx.err")))
  }

  private static func lines(of file: String) throws -> [String] {
    let stream = try #require(fopen(file, "re"))
    defer { fclose(stream) }
    var lines: [String] = []
    var buffer = [CChar](repeating: 0, count: 1_024)
    while fgets(&buffer, CInt(buffer.count), stream) != nil {
      let bytes = buffer.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }
      lines.append(String(decoding: bytes, as: UTF8.self))
    }
    return lines
  }
}

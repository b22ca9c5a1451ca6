import Glibc
import LocalServices
import Testing

@Suite struct TemporaryFolderTests {
  @Test("a folder goes with all that is in it when it is released")
  func removedOnRelease() throws {
    var folder: TemporaryFolder? = try TemporaryFolder()
    let path = try #require(folder?.path)
    #expect(mkdir("\(path)/inner", 0o700) == 0)
    try PrivateFile.write("text", to: "\(path)/inner/file")
    #expect(symlink("/etc", "\(path)/link") == 0)
    #expect(access("\(path)/inner/file", F_OK) == 0)
    folder = nil
    #expect(access(path, F_OK) != 0)
    #expect(access("/etc/passwd", F_OK) == 0)
  }

  @Test("only the owner may look into a folder, and its name leaves room for a socket address")
  func modeAndLength() throws {
    let folder = try TemporaryFolder()
    var status = stat()
    #expect(stat(folder.path, &status) == 0)
    #expect(status.st_mode & 0o777 == 0o700)
    #expect(folder.file("redis.sock").utf8.count < 108)
    folder.close()
    folder.close()
    #expect(access(folder.path, F_OK) != 0)
  }
}

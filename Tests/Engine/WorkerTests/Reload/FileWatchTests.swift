import Glibc
import LocalServices
import PushpoolConfiguration
import Testing

@testable import Worker

@Suite struct FileWatchTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func write(_ text: String, to name: String) throws -> String {
    let file = folder.file(name)
    try PrivateFile.write(text, to: file)
    return file
  }

  private func watch(_ files: String..., unrestMsMax: Int64 = 5_000) -> FileWatch {
    var marks = FileMarks()
    marks.add(files)
    return FileWatch(marks, unrestMsMax: unrestMsMax)
  }

  private func look(_ watch: inout FileWatch, _ nowMs: Int64 = 0) -> FileWatch.Finding {
    watch.look(nowMs: nowMs) { FileIdentity(path: $0) }
  }

  @Test("a file that is written to, replaced, removed or made has changed once it lies still")
  func notices() throws {
    let file = try write("one", to: "key")
    let late = folder.file("late")
    func expectChange(_ change: () throws -> Void) throws {
      var watch = watch(file, late)
      #expect(look(&watch) == .calm)
      #expect(look(&watch) == .calm)
      try change()
      #expect(look(&watch) == .restless)
      #expect(look(&watch) == .changed)
    }
    try expectChange { _ = try write("other", to: "key") }
    try expectChange {
      let new = try write("third", to: "new")
      #expect(rename(new, file) == 0)
    }
    try expectChange { _ = try write("late", to: "late") }
    try expectChange { unlink(late) }
    // It may be read now.
    try expectChange { chmod(file, 0o640) }
  }

  @Test("a Secret of Kubernetes that is replaced has changed, by one link far from the file")
  func followsLinks() throws {
    // key → ..data/key, ..data → ..one/, as kubelet's AtomicWriter has it.
    for (version, text) in [("..one", "1"), ("..two", "2")] {
      mkdir(folder.file(version), 0o700)
      _ = try write(text, to: "\(version)/key")
      _ = try write("the same", to: "\(version)/other")
    }
    symlink("..one", folder.file("..data"))
    symlink("..data/key", folder.file("key"))
    var watch = watch(folder.file("key"))
    #expect(look(&watch) == .calm)
    symlink("..two", folder.file("..data_tmp"))
    #expect(rename(folder.file("..data_tmp"), folder.file("..data")) == 0)
    #expect(look(&watch) == .restless)
    #expect(look(&watch) == .changed)
  }

  @Test("somebody who replaces one file after the other is not disturbed, but for so long only")
  func waitsForTheLast() throws {
    let files = (try write("1", to: "a"), try write("1", to: "b"))
    var patient = watch(files.0, files.1)
    _ = try write("22", to: "a")
    #expect(look(&patient, 0) == .restless)
    _ = try write("22", to: "b")
    #expect(look(&patient, 300) == .restless)
    #expect(look(&patient, 600) == .changed)
    // One that never rests.
    var busy = watch(files.0, unrestMsMax: 1_000)
    for step in 0..<5 {
      _ = try write(String(repeating: "x", count: step + 5), to: "a")
      #expect(look(&busy, Int64(step) * 200) == .restless)
    }
    _ = try write("the last", to: "a")
    #expect(look(&busy, 1_000) == .changed)
  }

  @Test("of many files a look asks for some, for the first always, and all are asked for in turn")
  func isBounded() throws {
    var marks = FileMarks()
    let paths = (0..<100).map { "/nowhere/\($0)" }
    marks.add(paths) { _ in nil }
    var watch = FileWatch(marks, countMax: 12)
    var asked: [String: Int] = [:]
    for _ in 0..<9 {
      var now = 0
      let finding = watch.look(nowMs: 0) { path in
        asked[path, default: 0] += 1
        now += 1
        return nil
      }
      #expect(finding == .calm && now == 12)
    }
    #expect(asked[paths[0]] == 9)
    #expect(Set(asked.keys) == Set(paths))
    // What is not there any more, or never was, is nothing that changes.
    let file = FileIdentity(path: try write("x", to: "x"))
    var seen = 0
    while watch.look(nowMs: 0, { $0 == paths[50] ? file : nil }) == .calm { seen += 1 }
    #expect(seen <= 9)
    #expect(watch.look(nowMs: 1) { _ in nil } == .calm, "it is as it was again")
  }

  @Test(
    "few files are looked at twice a second, so that a change holds within one; many each second")
  func looksOften() {
    for (count, ms) in [(0, 500), (1, 500), (999, 500), (1_000, 1_000), (9_000, 1_000)] {
      var marks = FileMarks()
      marks.add((0..<count).map { "/nowhere/\($0)" }) { _ in nil }
      #expect(FileWatch(marks).lookMs == UInt64(ms), "\(count) files")
    }
    #expect(WorkerLimits.fewFilesLookMs + WorkerLimits.filesSettleMs < 1_000)
  }

  @Test("files are marked once, as they were when they were added first")
  func marksOnce() throws {
    var marks = FileMarks()
    marks.add(["a", "b", "a"]) { _ in nil }
    let identity = FileIdentity(path: folder.path)
    marks.add(["b", "c"]) { _ in identity }
    #expect(marks.paths == ["a", "b", "c"])
    #expect(marks.identities == [nil, nil, identity])
    let kept = marks.only(["c", "a"])
    #expect(kept.paths == ["a", "c"] && kept.identities == [nil, identity])
  }
}

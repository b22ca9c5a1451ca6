import Model
import Testing

@Suite struct PlaceholderTests {
  private func variants(
    _ notification: String, _ more: String = #","variables_key":"names""#
  ) throws -> MessageVariants {
    try MessageVariants(JobTests.job(#""notification":{\#(notification)}\#(more)"#).content)
  }

  @Test("each form of a placeholder has one number, wherever it stands")
  func numbersForms() throws {
    let variants = try variants(
      #""title":"{{name}}, {{ name }}","body":"{{name | default: \"you\"}}{{n_1}}","data":{"k":"{{name}}"}"#
    )
    #expect(
      variants.placeholders == [
        Placeholder(name: "name"), Placeholder(name: "name", fallback: "you"),
        Placeholder(name: "n_1"),
      ])
    let marked = try #require(variants.contents[0].notification)
    #expect(marked.title == "\(Mark.value(0).text), \(Mark.value(0).text)")
    #expect(marked.body == Mark.value(1).text + Mark.value(2).text)
    #expect(marked.data.map(\.value) == [Mark.value(0).text])
  }

  @Test("texts of the networks' own parts and of languages are filled in, too")
  func marksEveryPart() throws {
    let variants = try variants(
      #""body":"B""#,
      #","variables":{},"localized":{"ja":{"body":"{{a}}"}},"apns":{"payload":{"x":["{{b}}"]}},"#
        + #""fcm":{"message":{"android":{"notification":{"tag":"{{c}}"}}}},"jpush":{"message":{"msg_content":"{{d}}"}}"#
    )
    #expect(Set(variants.placeholders.map(\.name)) == ["a", "b", "c", "d"])
    #expect(variants.contents[0].notification?.body == "B")
  }

  @Test(
    "a placeholder that nothing will fill is found, wherever it stands, and one that is filled is not"
  )
  func findsUnfilled() throws {
    func unfilled(_ members: String) throws -> String? {
      try JobTests.job(members).content.unfilledPlaceholder?.name
    }
    #expect(try unfilled(#""notification":{"title":"Hi {{name}}"}"#) == "name")
    #expect(
      try unfilled(#""notification":{"body":"{{ and {{"},"localized":{"ja":{"body":"{{a}}"}}"#)
        == "a")
    #expect(try unfilled(#""notification":{"title":"Hi { name }"}"#) == nil)
    #expect(try unfilled(#""notification":{"title":"{{name}}"},"variables_key":"names""#) == nil)
  }

  @Test("without variables braces are what a person has written")
  func literalWithoutVariables() throws {
    let variants = try variants(#""body":"{{name}} and {{ {{""#, "")
    #expect(variants.placeholders.isEmpty)
    #expect(variants.contents[0].notification?.body == "{{name}} and {{ {{")
  }

  @Test("bytes are cut at the marks")
  func cuts() {
    let noncharacter = String(Mark.value(0).text.unicodeScalars.first!)
    let marks = [Mark.value(0), .value(63), .badge(atMost: nil), .badge(atMost: Mark.atMostMax)]
    let text = "a\(marks[0].text)\(noncharacter)b" + marks.dropFirst().map(\.text).joined()
    let (parts, rest) = Mark.cut(Array(text.utf8))
    #expect(parts.map(\.mark) == marks)
    #expect(
      parts.map { String(decoding: $0.before, as: UTF8.self) }
        == ["a", noncharacter + "b", "", ""])
    #expect(rest.isEmpty)
  }

  @Test("a value in a URL is percent-encoded")
  func encodesInURL() throws {
    let variants = try variants(#""body":"B","image":"https://x.example/{{id}}.png""#)
    let placeholder = try #require(variants.placeholders.first)
    #expect(placeholder.written("a/ü ~") == "a%2F%C3%BC%20~")
    #expect(Placeholder(name: "id").written("a/ü ~") == "a/ü ~")
  }

  @Test(
    "a placeholder that cannot be read is refused where it stands",
    arguments: [
      (#""title":"{{}}""#, "/notification/title: holds {{ without a placeholder behind it"),
      (#""title":"{{first name}}""#, "/notification/title: holds {{"),
      (#""body":"{{name""#, "/notification/body: holds {{"),
      (#""body":"{{name|upper}}""#, "/notification/body: holds {{"),
      (#""body":"{{name | default: you}}""#, "write {{name}} or {{name | default: \"text\"}}"),
      (#""body":"x","data":{"a/b":"{{é}}"}"#, "/notification/data/a~1b: holds {{"),
      (#""body":"{{a}}\ufdd0""#, "/notification: must not hold U+FDD0"),
    ])
  func refuses(notification: String, expected: String) {
    let complaint = JobRefusalTests.complaint(
      fields: #""notification":{\#(notification)},"variables_key":"k""#)
    #expect(complaint.contains(expected), "\(complaint)")
  }

  @Test("in a language it is named there, and in a network's part there")
  func namesItsPlace() {
    let language = JobRefusalTests.complaint(
      fields:
        #""notification":{"body":"B"},"localized":{"ja":{"body":"{{"}},"variables_key":"k""#)
    #expect(language.contains("/localized/ja/body: holds {{"), "\(language)")
    let network = JobRefusalTests.complaint(
      fields: #""apns":{"payload":{"aps":{"alert":["{{"]}}},"variables_key":"k""#)
    #expect(network.contains("/apns/payload/aps/alert/0: holds {{"), "\(network)")
  }

  @Test("a job has a bounded number of placeholders")
  func boundsPlaceholders() {
    let names = (0...64).map { "{{n\($0)}}" }.joined()
    let complaint = JobRefusalTests.complaint(
      fields: #""notification":{"body":"\#(names)"},"variables_key":"k""#)
    #expect(complaint.contains("more than the 64 placeholders"), "\(complaint)")
  }

  @Test(
    "what could be taken for a mark is refused wherever it stands, but in values",
    arguments: [
      (#""notification":{"body":"\ufdd0\ue005","badge":"+1"}"#, "/notification"),
      (#""notification":{"body":"B","data":{"a\ufdd0":"x"}},"variables_key":"k""#, "/notification"),
      (
        #""notification":{"body":"{{a}}"},"localized":{"ja":{"body":"\ufdd0"}},"variables_key":"k""#,
        "/localized"
      ),
      (#""apns":{"payload":{"\ufdd0":1}},"variables_key":"k""#, "/apns"),
      (#""fcm":{"message":{"data":{"a":"\ufdd0"}}},"variables_key":"k""#, "/fcm"),
    ])
  func refusesMarks(fields: String, pointer: String) {
    let complaint = JobRefusalTests.complaint(fields: fields)
    #expect(complaint.contains("\(pointer): must not hold U+FDD0"), "\(complaint)")
  }

  @Test("a job with values and no placeholder is the same for everybody")
  func unusedValues() throws {
    #expect(try !variants(#""body":"B""#).hasMarks)
    #expect(try variants(#""body":"B","badge":"+1""#, "").hasMarks)
  }

  @Test("a job in which nothing is filled in may hold any character")
  func allowsMarksElsewhere() throws {
    let content = try JobTests.job(#""notification":{"body":"\ufdd0\ue03f"}"#).content
    #expect(try !MessageVariants(content).hasMarks)
    let values = try variants(#""body":"{{a}}""#, #","variables":{"u1":{"a":"\ufdd0\ue000"}}"#)
    #expect(values.hasMarks)
  }
}

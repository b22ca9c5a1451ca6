import Model
import Testing

@Suite struct LocalizedTextTests {
  private func variants(_ languages: String...) throws -> MessageVariants {
    let texts = languages.map { #""\#($0)":{"title":"\#($0)"}"# }.joined(separator: ",")
    return try MessageVariants(
      JobTests.job(#""notification":{"title":"common","body":"B"},"localized":{\#(texts)}"#).content
    )
  }

  /// The title that a device of this language gets.
  private func title(_ variants: MessageVariants, _ language: String) -> String? {
    variants.contents[variants.index(language: language)].notification?.title
  }

  @Test("a device gets the text of its language, or of the nearest that this one belongs to")
  func looksUp() throws {
    let variants = try variants("zh-Hant", "zh", "pt-BR", "en")
    #expect(title(variants, "zh-Hant-TW") == "zh-Hant")
    #expect(title(variants, "zh-Hant") == "zh-Hant")
    #expect(title(variants, "zh-Hans-CN") == "zh")
    #expect(title(variants, "zh_TW") == "zh")
    #expect(title(variants, "EN-gb-x-old") == "en")
    // A language that only begins with the same letters is another one.
    #expect(title(variants, "zhx") == "common")
    #expect(title(variants, "pt") == "common")
    #expect(title(variants, "pt-PT") == "common")
    #expect(title(variants, "") == "common")
  }

  @Test("a text for zh does not stand before the one for zh-Hant, however they are written")
  func broadLanguageShadowsNone() throws {
    for order in [["zh", "zh-Hant"], ["zh-Hant", "zh"]] {
      #expect(title(try variants(order[0], order[1]), "zh-Hant-TW") == "zh-Hant")
    }
  }

  @Test("what a language leaves out is said as in the common part")
  func fallsBackByField() throws {
    let variants = try variants("ja")
    #expect(variants.contents[1].notification?.body == "B")
    #expect(variants.hasLanguages)
    #expect(
      try !MessageVariants(JobTests.job(#""notification":{"body":"B"}"#).content).hasLanguages)
  }

  @Test("a job's languages are kept as they were given")
  func roundTrip() throws {
    let content = try JobTests.job(
      #""notification":{"body":"B"},"localized":{"zh-Hant":{"body":"C"},"ja":{"title":"T"}}"#
    ).content
    #expect(content.localized.map(\.language.text) == ["ja", "zh-Hant"])
    #expect(try JobContent(bytes: content.canonicalBytes()) == content)
  }

  @Test(
    "localized texts that nobody could receive are refused",
    arguments: [
      (#"{"j":{"body":"x"}}"#, "/localized/j: is no language tag such as ja, pt-BR or zh-Hant"),
      (#"{"ja-":{"body":"x"}}"#, "/localized/ja-: is no language tag"),
      (#"{"j4":{"body":"x"}}"#, "/localized/j4: is no language tag"),
      (#"{"日本":{"body":"x"}}"#, "/localized/日本: is no language tag"),
      (#"{"zh-TW":{"body":"x"},"zh_tw":{"body":"y"}}"#, "is the same language as \"zh-TW\""),
      (#"{"ja":{}}"#, "/localized/ja: is empty: it needs a title or a body"),
      (#"{"ja":"x"}"#, "/localized/ja: must be an object, is a string"),
      (#"{"ja":{"titel":"x"}}"#, "did you mean \"title\"?"), ("{}", "must hold 1 to 50 languages"),
      (#"[]"#, "/localized: must be an object, is an array"),
    ])
  func refuses(localized: String, expected: String) {
    let complaint = JobRefusalTests.complaint(
      fields: #""notification":{"body":"B"},"localized":\#(localized)"#)
    #expect(complaint.contains(expected), "\(complaint)")
  }

  @Test("localized texts need a common one, which devices of other languages receive")
  func needsNotification() {
    let complaint = JobRefusalTests.complaint(
      fields: #""apns":{"payload":{"a":1}},"localized":{"ja":{"body":"x"}}"#)
    #expect(complaint.contains("/localized: needs a notification"), "\(complaint)")
  }
}

import Model
import Testing

@testable import Worker

@Suite struct JobMaterialTests {
  private func material(_ expiry: Expiry?) -> JobMaterial {
    JobMaterial(content: JobContent(expiry: expiry), createdAtMs: 1_000_000)
  }

  @Test("a time to live counts from the job's creation, an instant is itself")
  func expires() {
    #expect(material(.ttl(seconds: 60)).expiresAtMs == 1_060_000)
    #expect(material(.at(ms: 5)).expiresAtMs == 5)
    #expect(material(nil).expiresAtMs == nil)
    #expect(material(nil).allowsRetry)
    #expect(material(.ttl(seconds: 60)).allowsRetry)
  }

  @Test("now or never: the first attempt is made however late, and no second one")
  func nowOrNever() {
    #expect(material(.ttl(seconds: 0)).expiresAtMs == nil)
    #expect(!material(.ttl(seconds: 0)).allowsRetry)
  }
}

import HTTPClient
import LocalServices
import Model
import Providers
import PushpoolConfiguration
import Redis
import Stage
import Store
import Testing
import TestSupport

@testable import Operations

/// What the doctor says of the apps that stand in Redis, and of their networks.
@Suite struct RedisAppsExaminationTests {
  @Test("the networks of an app in Redis are asked, and one that is refused there is named")
  func asks() async throws {
    try await DoctorStage.with { stage in
      let tenants = try Tenants(stage)
      try await tenants.put("news", ["jpush": try tenants.jpush()])
      try await tenants.put("mail", ["jpush": try tenants.jpush("another")])
      let diagnosis = try await tenants.diagnosis()
      #expect(diagnosis.has(.good, "redis", "keeps apps that can be sent for: 2"))
      #expect(
        diagnosis.has(.good, "news jpush", "takes the credential"),
        "\(diagnosis.about("news jpush"))")
      #expect(
        diagnosis.has(.error, "mail jpush", "refuses the credential"),
        "\(diagnosis.about("mail jpush"))")
      #expect(diagnosis.needs.map(\.subject) == ["mail jpush"])
      #expect(diagnosis.first?.remedy?.contains("correct app_key or the master secret") == true)
      // They stand beside the file's, of which nothing else is told.
      let both = try await tenants.diagnosis(stage.text.text(stage.stage.keys))
      #expect(both.has(.good, "shop jpush", "takes the credential"))
      #expect(both.has(.error, "mail jpush", "refuses the credential"))
      // Who names no key does not look.
      let without = try await stage.diagnosis()
      #expect(
        !without.about("redis").contains {
          $0.sentence.contains("keeps") && $0.sentence.contains("app")
        })
    }
  }

  @Test("the end of a certificate of an app in Redis is told, with the command that replaces it")
  func certificates() async throws {
    try await DoctorStage.with { stage in
      let tenants = try Tenants(stage)
      let authority = try CertificateAuthority(folder: stage.stage.folder.path)
      for (name, days) in [("soon", 10), ("late", 90)] {
        let issued = try authority.issueClient(
          commonName: "shop", fileName: name, validDays: days)
        let text = TextFile.read(issued.combinedFile, bytesMax: 1 << 16) ?? ""
        try await tenants.put(
          name, ["apns": ["production": ["certificate": .string(text), "topic": .string("t")]]])
      }
      let diagnosis = try await tenants.diagnosis(isOffline: true)
      let soon = try #require(diagnosis.about("soon apns production").first)
      #expect(soon.severity == .warning)
      #expect(soon.sentence.hasPrefix("the certificate of the app in Redis expires on"))
      #expect(soon.remedy?.contains("(pushpool app set)") == true)
      #expect(diagnosis.has(.good, "late apns production", "app in Redis holds until"))
      #expect(diagnosis.needs.count == 1)
    }
  }

  @Test(
    "each app that workers would leave out is a finding of its own, with its place and what to do")
  func badApps() async throws {
    try await DoctorStage.with { stage in
      let tenants = try Tenants(stage)
      try await tenants.put("news", ["jpush": try tenants.jpush()])
      for number in 10..<30 { try await tenants.write("bad-\(number)", Array("no JSON".utf8)) }
      try await tenants.put("lost", ["jpush": try tenants.jpush()], keys: SealingKeys(.random()))
      try await tenants.put("key", ["fcm": ["service_account": .string("{}")]])
      try await tenants.write("no name", [])
      let diagnosis = try await tenants.diagnosis(isOffline: true)
      let left = diagnosis.about("redis").filter { $0.severity == .error }
      #expect(left.count == 23, "\(left)")
      for number in 10..<30 {
        #expect(
          diagnosis.has(
            .error, "redis", "keeps an app that workers leave out, bad-\(number): the record is"))
      }
      #expect(
        diagnosis.has(
          .error, "redis", "lost: jpush.master_secret: is sealed with the key"), "\(left)")
      #expect(
        diagnosis.has(.error, "redis", "key: fcm.service_account: the value has no"), "\(left)")
      #expect(diagnosis.has(.error, "redis", "no name: no job can name it"), "\(left)")
      for finding in left {
        let lacksKey = finding.sentence.contains("is sealed with the key")
        let words = lacksKey ? "name the file of that key" : "(pushpool app remove)"
        #expect(finding.remedy?.contains(words) == true, "\(finding)")
      }
      #expect(diagnosis.has(.good, "redis", "keeps apps that can be sent for: 1"))
    }
  }

  @Test("an app that the file names, too, is a warning, and the file's networks are asked")
  func conflict() async throws {
    try await DoctorStage.with { stage in
      let tenants = try Tenants(stage)
      try await tenants.put("shop", ["jpush": try tenants.jpush("another")])
      let diagnosis = try await tenants.diagnosis(stage.text.text(stage.stage.keys))
      #expect(
        diagnosis.has(
          .warning, "redis", "keeps an app that the configuration file names, too, shop"))
      #expect(diagnosis.first?.remedy?.contains("pushpool app remove shop") == true)
      #expect(diagnosis.has(.good, "shop jpush", "takes the credential"))
      #expect(diagnosis.has(.good, "redis", "keeps apps that can be sent for: 0"))
    }
  }

  @Test("one app may be looked at alone, and one that nobody has is told")
  func one() async throws {
    try await DoctorStage.with { stage in
      let tenants = try Tenants(stage)
      try await tenants.put("news", ["jpush": try tenants.jpush()])
      try await tenants.write("bad", Array("no JSON".utf8))
      let text = stage.text.text(stage.stage.keys)
      let news = try await tenants.diagnosis(text, app: "news")
      #expect(news.isWell, "\(news.needs)")
      #expect(news.has(.good, "news jpush", "takes the credential"))
      #expect(news.has(.good, "redis", "keeps apps that can be sent for: 1"))
      #expect(news.findings.allSatisfy { !$0.subject.hasPrefix("shop") })
      let shop = try await tenants.diagnosis(text, app: "shop")
      #expect(shop.isWell, "\(shop.needs)")
      #expect(shop.has(.good, "shop fcm", "takes the credential"))
      #expect(shop.about("news jpush").isEmpty)
      let bad = try await tenants.diagnosis(text, app: "bad")
      #expect(bad.needs.count == 1 && bad.has(.error, "redis", "workers leave out, bad:"))
      let none = try await tenants.diagnosis(text, app: "shap")
      #expect(none.needs.count == 1)
      #expect(
        none.has(.error, "configuration", "has no app shap, and none of this name was found"))
      #expect(none.first?.remedy?.contains("pushpool app list") == true)
      // Without the keys nobody knows.
      let unknown = try await stage.diagnosis(of: text, isOffline: true, app: "news")
      #expect(
        unknown.has(
          .note, "configuration", "has no app news, and the apps in Redis were not looked at"))
      #expect(unknown.needs.isEmpty, "\(unknown.needs)")
    }
  }

  @Test("too many apps in Redis are told, and so is who may not see them")
  func unseen() async throws {
    var options = RedisServer.Options()
    options.configuration = [
      "user blind on nopass resetkeys %R~pushpool:[b-z]* %R~pushpool:alarms* -@all +@read -@dangerous +ping +time "
        + "+select +client|setname"
    ]
    try await DoctorStage.with(options) { stage in
      let tenants = try Tenants(stage)
      let blind = try await tenants.diagnosis(
        "redis: {url: 'unix://blind:@\(stage.stage.redis.socketPath)'}", isOffline: true)
      #expect(
        blind.has(.note, "redis", "does not show this user the apps that it keeps (pushpool:apps)"),
        "\(blind.about("redis"))")
      let endpoint = stage.stage.redis.endpoint
      try await stage.lane.run { lane in
        let redis = try await lane.connect(endpoint)
        _ = try await redis.call(
          RedisCommand(
            "EVAL", "for i = 1, 10001 do redis.call('HSET', KEYS[1], 'x' .. i, '') end", "1",
            "pushpool:apps"))
      }
      let full = try await tenants.diagnosis(
        stage.text.text(stage.stage.keys), isOffline: true)
      #expect(
        full.has(.error, "redis", "keeps 10001 apps, and workers read none of more than 10000"))
    }
  }

  @Test(
    "beyond a hundred bad apps are counted, and beyond a thousand none is looked at unless it is named"
  )
  func bounds() throws {
    let configuration = Configuration(apps: [])
    let client = HTTPClient()
    defer { client.shutdown() }
    var change = RedisAppsChange(
      of: try ConfiguredApps(configuration, client: client), configuration, ids: nil,
      client: client)
    for number in 0..<130 { change.take("bad-\(number)", .fault(part: "", message: "junk")) }
    let findings = RedisAppsVerdict(
      try change.apps().redis, of: ExaminedApps(count: 5_000)
    ).findings
    #expect(findings.filter { $0.sentence.contains("workers leave out") }.count == 100)
    let rest = try #require(findings.first { $0.sentence == "keeps 30 more apps with such faults" })
    #expect(rest.severity == .error)
    #expect(rest.remedy == "mend those above, and ask the doctor again")
    #expect(
      findings.contains {
        $0.severity == .note
          && $0.sentence.contains("the doctor looks at some 1000, and at any other with --app")
      })
  }
}

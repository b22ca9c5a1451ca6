package import Model

/// All that the doctor found, in the order in which it looked.
package struct Diagnosis: Sendable, Equatable {
  package private(set) var findings: [DoctorFinding] = []
  /// Whether Redis was asked in vain: much was not looked at then.
  package private(set) var lacksRedis = false

  init() {}

  mutating func add(_ findings: [DoctorFinding]) { self.findings += findings }

  /// Notes that Redis cannot be asked.
  mutating func addLack(ofRedis finding: DoctorFinding) {
    findings.append(finding)
    lacksRedis = true
  }

  /// The findings that need a person, the errors first.
  package var needs: [DoctorFinding] {
    findings.filter { $0.severity == .error } + findings.filter { $0.severity == .warning }
  }

  package var isWell: Bool { needs.isEmpty }

  /// The one to begin with: what comes first in the order of looking is what others follow from.
  package var first: DoctorFinding? { needs.first }

  /// Returns all of it as one object.
  package var json: JSONValue {
    .object([
      "ok": .bool(isWell), "redis_asked": .bool(!lacksRedis),
      "first": first?.json ?? .null,
      "findings": .array(findings.map(\.json)),
    ])
  }
}

internal import Model

extension AppForm {
  /// The app at JPush.
  package struct JPush: Sendable, Equatable {
    package var appKey: String
    package var access: Access

    package init(appKey: String, access: Access = Access()) {
      self.appKey = appKey
      self.access = access
    }
  }
}

extension AppSecretName {
  package static func jpush(_ field: Field) -> AppSecretName {
    AppSecretName(AppForm.JPush.part(nil), field)
  }
}

extension AppForm.JPush: NetworkForm {
  static let network = Network.jpush
  static let fields = ["app_key"]
  static let secretFields: [AppSecretName.Field] = [.masterSecret]

  var requiredSecret: AppSecretName.Field { .masterSecret }

  init(_ section: inout AppFormSection) throws(InvalidField) {
    let appKey = try section.reader.required("app_key", "the AppKey of the JPush console") {
      (text) throws(InvalidField) in try AppFieldRule.checkAppKey(text)
    }
    try section.require(.masterSecret, "the master secret of the JPush console")
    self.init(appKey: appKey, access: try section.access())
  }

  func write(to object: inout JSONObject, _ secret: (AppSecretName.Field) -> JSONValue?) {
    object.add(.string(appKey), for: "app_key")
    object.add(secret(.masterSecret), for: "master_secret")
  }
}

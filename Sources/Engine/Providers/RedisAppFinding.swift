internal import HTTPClient
package import PushpoolConfiguration

extension RedisAppsChange.Finding {
  /// An app whose record was opened.
  /// - Parameters:
  ///   - secrets: all that the form requires.
  ///   - keys: the ids of those that have sealed the secrets.
  package init(
    _ id: String, _ form: AppForm, secrets: [AppSecretName: AppSecret], sealedBy keys: [String]
  ) {
    // In a configuration file that is an error of all.
    if form.jpush != nil, let unfitness = CurlLibrary.unfitness {
      self = .fault(
        part: "jpush",
        message:
          "needs another libcurl than \(CurlLibrary.version), which carries its pushes: \(unfitness)"
      )
    } else {
      self = .material(
        AppMaterial(id: id, form, secrets: secrets), form.rules, sealedBy: keys)
    }
  }

  /// An app whose record cannot be opened.
  /// - Parameter pointer: where in the app that is, as a JSON pointer.
  package init(faultAt pointer: String, _ message: String) {
    self = .fault(part: String(pointer.dropFirst()).replacing("/", with: "."), message: message)
  }
}

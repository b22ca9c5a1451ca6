package import Model

/// The form of an app's account at one network.
protocol NetworkForm: Sendable, Equatable {
  static var network: Network { get }
  /// The members of its section, without those of `AppForm.Access` and without secrets.
  static var fields: [String] { get }
  /// The secrets that its section may have, beside the password of a proxy's user.
  static var secretFields: [AppSecretName.Field] { get }

  init(_ section: inout AppFormSection) throws(InvalidField)

  var access: AppForm.Access { get }
  /// The secret that it cannot do without, beside the password of a proxy's user.
  var requiredSecret: AppSecretName.Field { get }

  /// The messages a minute that the network allows the account; nil where the form does not say.
  var quotaPerMinute: Int? { get }

  /// The places that its secrets are sent to where that is other than usual, and whom it trusts there.
  var destinations: [String?] { get }

  /// Adds its members, in an order that never changes, without those of its access.
  /// - Parameter secret: what is to stand in the place of a secret; nil for nothing.
  func write(to object: inout JSONObject, _ secret: (AppSecretName.Field) -> JSONValue?)
}

extension NetworkForm {
  var destinations: [String?] { access.destinations }

  var quotaPerMinute: Int? { nil }

  /// The section that it stands in, such as `apns.production`.
  static func part(_ environment: PushEnvironment?) -> String {
    environment.map { "\(network.rawValue).\($0.rawValue)" } ?? network.rawValue
  }

  /// The names of the secrets that its section may have.
  /// - Parameter environment: nil where there is one account for both.
  static func secretNames(_ environment: PushEnvironment? = nil) -> [AppSecretName] {
    (secretFields + [.proxyPassword]).map { AppSecretName(part(environment), $0) }
  }
}

/// An account of an app in the form of Redis.
package struct AppFormAccount: Sendable {
  package let network: Network
  /// The environment that it is for; nil for both.
  package let environment: PushEnvironment?
  private let form: any NetworkForm
  private let part: String

  init<Form: NetworkForm>(_ form: Form, _ environment: PushEnvironment? = nil) {
    network = Form.network
    self.environment = environment
    self.form = form
    part = Form.part(environment)
  }

  /// The secrets that it cannot do without.
  package var requiredSecrets: [AppSecretName] {
    let fields = [form.requiredSecret] + (form.access.proxyUser == nil ? [] : [.proxyPassword])
    return fields.map { AppSecretName(part, $0) }
  }

  /// Whether it is the account that a secret belongs to.
  func has(_ name: AppSecretName) -> Bool { name.part == part }

  var destinations: [String?] { form.destinations }

  /// The messages a minute that the network allows it; nil where the form does not say.
  package var quotaPerMinute: Int? { form.quotaPerMinute }

  package var access: AppForm.Access { form.access }

  /// - Parameter secret: what is to stand in the place of a secret; nil for nothing.
  func json(_ secret: (AppSecretName) -> JSONValue?) -> JSONObject {
    var object = JSONObject()
    form.write(to: &object) { secret(AppSecretName(part, $0)) }
    let access = form.access
    object.add(access.endpoint.map { .string($0.description) }, for: "endpoint")
    object.add(access.authorities.map { .string($0) }, for: "ca")
    object.add(access.proxy.map { .string($0.description) }, for: "proxy")
    object.add(access.proxyUser.map { .string($0) }, for: "proxy_user")
    let password = AppSecretName(part, .proxyPassword)
    object.add(secret(password), for: password.field.rawValue)
    return object
  }
}

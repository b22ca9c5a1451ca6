internal import Model
internal import PushpoolConfiguration

/// The values in the paths of installations, users and topics, and the app of a job, checked by the rules of the model.
enum PathValue {
  /// Refuses a name that no path can have: proxies take these two for steps, encoded or not (RFC 3986, 6.2.2.3).
  static func checkSegment(_ name: String, at pointer: String) throws(InvalidField) {
    guard name != ".", name != ".." else {
      throw InvalidField(
        pointer: pointer, message: "must not be . or .. here: no path of this API could name it")
    }
  }

  /// The app, by the parameter `app`.
  /// - Throws: 404 for an app that the configuration does not have. A configuration without apps knows none of them, and any
  ///   name will do; nor does one that has apps in Redis.
  static func app(
    _ request: APIRequest, _ configuration: Configuration
  ) throws(Problem) -> String {
    let app = try AppPath(request).app
    guard
      configuration.apps.isEmpty || configuration.appsInRedis != nil
        || configuration.app(app) != nil
    else {
      throw .notFound("there is no app \(app): the server's configuration has none of this name")
    }
    return app
  }

  static func app(_ request: APIRequest, _ services: Services) throws(Problem) -> String {
    try app(request, services.configuration)
  }

  /// The status of `app`, as the document of a route tells it.
  static let unknownApp: (status: Int, meaning: String) = (
    404, "The server's configuration has no such app"
  )

  /// The device token, by the parameters `network` and `token`.
  static func token(_ request: APIRequest) throws(Problem) -> DeviceToken {
    let name = request.parameter("network")
    guard let network = Network(rawValue: name) else {
      let networks = Network.allCases.map(\.rawValue).joined(separator: ", ")
      throw refused("network", InvalidField(pointer: "", message: "must be one of \(networks)"))
    }
    do throws(InvalidField) {
      return try DeviceToken(request.parameter("token"), network: network)
    } catch { throw refused("token", error) }
  }

  static func user(_ request: APIRequest) throws(Problem) -> String {
    let user = request.parameter("user")
    do throws(InvalidField) { try TextRule.checkUser(user) } catch { throw refused("user", error) }
    return user
  }

  static func topic(_ request: APIRequest) throws(Problem) -> String {
    let topic = request.parameter("topic")
    do throws(InvalidField) { try TextRule.checkTopic(topic) } catch {
      throw refused("topic", error)
    }
    return topic
  }

  /// Says which part of the path breaks which rule. The value is not repeated: a token is as good as an address.
  static func refused(_ name: String, _ field: InvalidField) -> Problem {
    Problem(422, "the path breaks a rule", "\(name) of the path: \(field.message)")
  }
}

/// The memory that the networks have of one connection.
struct ConnectionMemory {
  /// Counted from 1 as connections are opened.
  var number = 0
  var hasClientCertificate = false
  /// Whether a request showed a valid credential: then the stream limit rises.
  var isAuthorised = false
  /// APNs binds a connection to the team of its first push.
  var teamID: String?
  var authorization = RememberedBytes()
  var providerToken: ProviderToken?
  var bearer: BearerTokens.Grant?
  var jpushAppKey: String?
  var validator: APNsValidator
}

internal import Model

/// An error of the token endpoint (RFC 6749, 5.2), with Google's descriptions.
struct OAuthError: Error {
  var status = 400
  let code: String
  let message: String

  var answer: Answer {
    let object: JSONObject = [
      "error": .string(code), "error_description": .string(message),
    ]
    return Answer(status: status, body: JSONValue.object(object).bytes())
  }
}

internal import Model
internal import Operations
internal import Redis
internal import Store

/// Changes an installation in part. Read, merged and written: written only if it still is what was read, so that no change
/// of somebody else's is lost.
enum InstallationPatchRoute {
  static let patch = APIRoute(
    .patch, InstallationRoutes.pattern, .roles([.device, .server]),
    bodyBytesMax: Limits.installationBytesMax,
    RouteDocument(
      "installations", "Change an installation in part",
      """
      A JSON Merge Patch (RFC 7396): a field that is null is removed, and custom fields go into one another. The change is one \
      atomic step. It does not move the token to another user: PUT does. It renews the installation, unless it changes nothing.
      """,
      headers: [
        (
          "If-Match",
          "The ETag of a GET: the change is made only if the installation is still the same, else the answer is 412"
        )
      ],
      request: .init(type: "application/merge-patch+json", schema: InstallationSchema.patch),
      answers: [.init(200, "The installation as it is now", .json(InstallationSchema.answer))],
      problems: [
        (400, "The body is no JSON, or If-Match no list of tags"),
        (403, "A device named another user than its own"),
        (404, "The token is installed for nobody, or there is no such app"),
        (409, "Another user has the token; nothing was changed"),
        (412, "The installation is not any more what If-Match names; nothing was changed"),
        (422, "A part of the path, or a field of the body, breaks a rule; the answer names it"),
      ])
  ) { request, services throws(Problem) in
    let app = try PathValue.app(request, services)
    let token = try PathValue.token(request)
    let own = try OwnUser.only(request.caller)
    let changes = try InstallationDocument.parse(request.body)
    let condition = try MatchCondition(of: request)
    for _ in 0..<ServerLimits.patchTriesMax {
      guard let before = try await InstallationRoutes.read(app, token, services) else {
        throw InstallationAnswer.absent
      }
      if let own, !TextRule.isSame(before.installation.user, own) {
        throw InstallationAnswer.otherOwner
      }
      if let condition, !condition.holds(for: EntityTag(before)) { throw hasChanged }
      let after = try amended(before, by: changes, request.caller)
      guard after != before.installation else { return InstallationAnswer.document(before) }
      let answer = try await services.run(
        in: .app(app),
        about: [
          .token(app: app, token), .user(app: app, user: after.user),
        ]
      ) { store throws(RedisError) in
        try await store.installations.amend(before, to: after)
      }
      if case .amended(let stored) = answer { return InstallationAnswer.document(stored) }
    }
    throw .unavailable(
      "others change the same installation all the time: try again", retryAfterS: 1)
  }

  private static let hasChanged = Problem(
    412, "precondition failed",
    "the installation is not any more what If-Match names: GET it, and make the change anew")

  /// The installation with the changes.
  /// - Throws: 422 for a field that breaks a rule, 403 or 409 for another user.
  static func amended(
    _ before: StoredInstallation, by changes: JSONValue, _ caller: Caller
  ) throws(Problem) -> Installation {
    let old = before.installation
    var new: Installation
    do throws(InvalidField) {
      try checkNames(changes)
      new = try Installation(json: MergePatch.apply(changes, to: withoutInstants(old).json()))
      if changes.objectValue?["created_at"] == nil { new.createdAtMs = old.createdAtMs }
      if changes.objectValue?["updated_at"] == nil { new.updatedAtMs = old.updatedAtMs }
      try checkNaming(of: new, beside: old)
    } catch { throw .invalid(error) }
    guard TextRule.isSame(new.user, old.user) else {
      try OwnUser.check(new.user, caller)
      throw InstallationAnswer.otherOwner
    }
    // As an empty list, none at all leaves the channels: a patch that removes the field is no install that lacks it.
    new.leavesChannels = false
    if new != old, changes.objectValue?["updated_at"] == nil { new.updatedAtMs = nil }
    return new
  }

  /// An installation that is stored may have seconds for instants, from before they were refused. Whoever changes other
  /// fields need not mend that.
  private static func withoutInstants(_ installation: Installation) -> Installation {
    var installation = installation
    (installation.createdAtMs, installation.updatedAtMs) = (nil, nil)
    return installation
  }

  /// Refuses names that no installation has, also where they are to be removed: a name that is misspelt would do nothing.
  private static func checkNames(_ changes: JSONValue) throws(InvalidField) {
    guard case .object(let object) = changes else {
      throw InvalidField(
        pointer: "", message: "must be an object with the fields to change, is \(changes.kindName)")
    }
    for member in object.members where !Installation.fields.contains(member.name) {
      throw InvalidField(
        pointer: FieldPointer.child(member.name, of: ""),
        message: NearestName.unknownField(member.name, among: Installation.fields))
    }
    for member in object["custom"]?.objectValue?.members ?? [] where member.value == .null {
      guard (1...Limits.customNameBytesMax).contains(member.name.utf8.count),
        TextRule.isWord(member.name, others: "._-")
      else {
        throw InvalidField(
          pointer: FieldPointer.child(member.name, of: "/custom"),
          message: "the name must be 1 to \(Limits.customNameBytesMax) ASCII letters, digits "
            + "or . _ -")
      }
    }
  }

  /// Refuses changes to what names an installation.
  private static func checkNaming(
    of new: Installation, beside old: Installation
  ) throws(InvalidField) {
    let changed: [(String, Bool)] = [
      ("app", new.app != old.app), ("network", new.token.network != old.token.network),
      ("token", new.token != old.token), ("object_id", new.objectID != old.objectID),
      ("created_at", new.createdAtMs != old.createdAtMs),
    ]
    for (name, isChanged) in changed where isChanged {
      throw InvalidField(
        pointer: FieldPointer.child(name, of: ""),
        message: "cannot be changed: leave it out, or give it as it is")
    }
  }
}

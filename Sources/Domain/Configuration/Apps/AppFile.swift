package import Model
internal import Yams

/// A file with one app, for a command that puts it into Redis: as the app would stand in the configuration file, with the paths of
/// its secrets, or as a command shows it.
package struct AppFile: Sendable {
  package let id: String
  package let document: AppDocument
  private let places: AppFilePlaces

  /// Reads YAML, of which JSON is a part.
  /// - Parameter name: of the file, for messages; relative paths begin at its folder.
  /// - Throws: what is wrong, with the line where that is known.
  package init(_ text: String, name: String) throws(ConfigurationError) {
    func refused(_ message: String) -> ConfigurationError {
      ConfigurationError(file: name, line: nil, field: "", message: message)
    }
    guard text.utf8.count <= ConfigurationLimits.appDocumentBytesMax else {
      throw refused(
        "is longer than \(ConfigurationLimits.appDocumentBytesMax) bytes, the most that an app may have"
      )
    }
    let node: Node?
    do { node = try Yams.compose(yaml: text) } catch {
      throw refused("is neither YAML nor JSON")
    }
    guard let node, node.mapping != nil else {
      throw refused("must be one app: a mapping that begins with \"id:\"")
    }
    var reader = AppFileReader(
      file: name, folder: name.lastIndex(of: "/").map { String(name[...$0]) } ?? "")
    let json = try reader.value(node, at: "")
    places = reader.places
    do throws(InvalidField) {
      guard let named = json.objectValue?["id"] else {
        throw InvalidField(pointer: "/id", message: "is missing: name the app as its jobs do")
      }
      guard let id = named.stringValue else {
        throw InvalidField(pointer: "/id", message: "must be a name, is \(named.kindName)")
      }
      do { try TextRule.checkApp(id) } catch { throw error.under("/id") }
      self.id = id
      document = try AppDocument(json, id: id)
    } catch { throw reader.places.error(about: error, in: name) }
  }

  /// The complaint about a field of the document, at its place in the file.
  package func error(_ field: InvalidField, file: String) -> ConfigurationError {
    places.error(about: field, in: file)
  }
}

internal import Model

/// An export of another push service as it is imported: what each element becomes, and what was not taken of it.
final class ForeignExport {
  private let mapping: ForeignMapping
  private var number = 0
  private var refused = ReasonTally()
  private var leftOut = ReasonTally()

  init(_ mapping: ForeignMapping) { self.mapping = mapping }

  /// Makes an installation of the next element.
  /// - Throws: why it is refused, with what names the element. The report has it already.
  func installation(of element: LineReader.Line) throws(InvalidField) -> Installation {
    number += 1
    var id: String?
    do throws(InvalidField) {
      guard case .text(let bytes) = element else {
        throw InvalidField(
          pointer: "", message: "it is longer than \(Limits.installationBytesMax) bytes")
      }
      let object = try Self.object(bytes)
      id = mapping.objectID(of: object)
      let (installation, fields) = try mapping.installation(of: object)
      for field in fields {
        leftOut.add("\(field.field): \(field.reason)", example: name(id))
      }
      return installation
    } catch {
      refused.add(error.message, example: name(id))
      let message = id.map { "\($0): \(error.message)" } ?? error.message
      throw InvalidField(pointer: "", message: message)
    }
  }

  private func name(_ id: String?) -> String { id ?? "installation \(number)" }

  private static func object(
    _ bytes: UnsafeBufferPointer<UInt8>
  ) throws(InvalidField) -> JSONObject {
    let value: JSONValue
    do throws(JSONSyntaxError) {
      value = try JSONParser(
        bytesMax: Limits.installationBytesMax, valuesMax: Limits.installationValuesMax
      ).parse(bytes)
    } catch {
      throw InvalidField(pointer: "", message: "\(error)")
    }
    guard let object = value.objectValue else {
      throw InvalidField(pointer: "", message: "it is \(value.kindName) and not an object")
    }
    return object
  }

  /// Lines for people about what was not taken and why; none when everything was.
  var report: [String] {
    (refused.isEmpty ? [] : ["installations that were refused:"] + refused.lines)
      + (leftOut.isEmpty ? [] : ["fields that were left out:"] + leftOut.lines)
  }

  /// Adds the report for programs, beside the members of the tally.
  func addReport(to tally: JSONValue) -> JSONValue {
    guard var object = tally.objectValue else { return tally }
    object["refused_reasons"] = refused.json
    object["left_out"] = leftOut.json
    return .object(object)
  }
}

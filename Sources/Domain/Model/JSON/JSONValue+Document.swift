extension JSONValue {
  /// Parses what a backend says of an installation or a subscription: one line of NDJSON. A syntax error has an empty pointer.
  package init(document bytes: UnsafeBufferPointer<UInt8>) throws(InvalidField) {
    do {
      self = try JSONParser(
        bytesMax: Limits.installationBytesMax, valuesMax: Limits.installationValuesMax
      ).parse(bytes)
    } catch {
      throw InvalidField(pointer: "", message: error.description)
    }
  }
}

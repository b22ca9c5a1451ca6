internal import Model
internal import Providers
internal import PushpoolConfiguration
internal import Store

/// The apps that stand in Redis, as far as the doctor has looked at them.
struct ExaminedApps: Sendable {
  /// How many there are.
  let count: Int
  private(set) var all: [App] = []
  /// Whether there are no others to look at.
  var isAll = false

  init(count: Int) { self.count = count }

  /// Opens an app; one that comes up twice the first time.
  mutating func open(_ id: String, value: [UInt8], _ keys: SealingKeys) {
    guard seen.insert(id).inserted else { return }
    all.append(App(id, value: value, keys))
  }

  private var seen: Set<String> = []

  /// Whether an app of this name is among them.
  func has(_ id: String) -> Bool { seen.contains(id) }

  /// The forms of those whose records can be read, by app.
  var forms: [String: AppForm] {
    Dictionary(all.compactMap { app in app.form.map { (app.id, $0) } }, uniquingKeysWith: { $1 })
  }

  struct App: Sendable {
    let id: String
    /// nil where its record cannot be read.
    let form: AppForm?
    /// The app as a worker finds it.
    let finding: RedisAppsChange.Finding
    /// Whether none of the key files holds a key that has sealed it.
    let lacksKey: Bool

    init(_ id: String, value: [UInt8], _ keys: SealingKeys) {
      self.id = id
      do throws(InvalidField) { try TextRule.checkApp(id) } catch {
        finding = RedisAppsChange.Finding(
          faultAt: "", "no job can name it: the name of an app \(error.message)")
        (form, lacksKey) = (nil, false)
        return
      }
      let record: AppRecord
      do throws(AppRecordFault) { record = try AppRecord(id: id, value: value) } catch {
        finding = RedisAppsChange.Finding(faultAt: error.pointer, error.message)
        (form, lacksKey) = (nil, false)
        return
      }
      form = record.form
      let held = keys.ids(among: record.keyIDs)
      lacksKey = !record.keyIDs.allSatisfy(held.contains)
      do throws(AppRecordFault) {
        finding = RedisAppsChange.Finding(
          id, record.form, secrets: try record.open(keys), sealedBy: held)
      } catch { finding = RedisAppsChange.Finding(faultAt: error.pointer, error.message) }
    }
  }
}

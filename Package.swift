// swift-tools-version: 6.2
import PackageDescription

let swiftSettings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  // Non-Sendable objects that live on a lane keep their async methods on that lane.
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// The path of a push takes dozens of exclusive accesses, each checked at run time for 4 % of a push's
/// instructions in all. Debug builds, and with them all tests, keep the checks.
let pathOfAPush: [SwiftSetting] = [
  .unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release))
]

/// The storeys of the house, each a folder of Sources and of Tests. The engine stands on the domain and the platform, the
/// operations on these, the programs on all.
enum Storey: String {
  case platform = "Platform"
  case domain = "Domain"
  case engine = "Engine"
  case operations = "Operations"
  case programs = "Programs"
  /// What tests, the demo, benchmarks and chaos stand on.
  case harness = "Harness"
}

/// A library target of this package; arrows point down only (docs/internals/design.md).
func layer(
  _ name: String, in storey: Storey, _ dependencies: [Target.Dependency],
  folder: String? = nil,
  resources: [Resource]? = nil,
  settings: [SwiftSetting] = []
) -> Target {
  // A storey of one room has no folder besides.
  let folder = storey.rawValue == name ? name : "\(storey.rawValue)/\(folder ?? name)"
  return .target(
    name: name, dependencies: dependencies, path: "Sources/\(folder)",
    resources: resources, swiftSettings: swiftSettings + settings)
}

func tests(
  _ name: String, in storey: Storey, _ dependencies: [Target.Dependency],
  resources: [Resource]? = nil
) -> Target {
  .testTarget(
    name: name, dependencies: dependencies, path: "Tests/\(storey.rawValue)/\(name)",
    resources: resources, swiftSettings: swiftSettings)
}

let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let arguments = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")

let package = Package(
  name: "pushpool-workers",
  products: [
    .executable(name: "pushpool", targets: ["pushpool"]),
    .executable(name: "pushpool-demo", targets: ["pushpool-demo"]),
    .executable(name: "pushpool-simulator", targets: ["pushpool-simulator"]),
    .executable(name: "pushpool-bench", targets: ["pushpool-bench"]),
    .executable(name: "pushpool-chaos", targets: ["pushpool-chaos"]),
    .executable(name: "pushpool-server", targets: ["pushpool-server"]),
    // Gives processes of tests clocks of their own (LD_PRELOAD).
    .library(name: "clockshift", type: .dynamic, targets: ["CClockShift"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    // Only what pushpool-server is made of: nothing else links them.
    .package(
      url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
  ],
  targets: [
    // System libraries and small shims.
    .target(name: "CLinux", path: "Sources/Platform/CLinux"),
    .target(
      name: "COpenSSL", path: "Sources/Platform/COpenSSL",
      linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]),
    .target(
      name: "CCurl", path: "Sources/Platform/CCurl", linkerSettings: [.linkedLibrary("curl")]),
    .target(
      name: "CHiredis", path: "Sources/Platform/CHiredis",
      linkerSettings: [.linkedLibrary("hiredis")]),
    // Only ever preloaded: linked into a program it would take the place of its clocks.
    .target(
      name: "CClockShift", path: "Sources/Harness/CClockShift",
      linkerSettings: [.linkedLibrary("dl")]),
    .target(
      name: "CNGHTTP2", path: "Sources/Platform/CNGHTTP2",
      linkerSettings: [.linkedLibrary("nghttp2")]),

    // How figures and tables stand in lines of text.
    layer("Typesetting", in: .platform, []),

    // One socket-and-TLS layer under the codecs.
    layer("Reactor", in: .platform, ["CLinux", "COpenSSL"], settings: pathOfAPush),
    layer("Redis", in: .platform, ["Reactor", "CHiredis"], settings: pathOfAPush),
    layer("HTTP2", in: .platform, ["Reactor", "CNGHTTP2"], settings: pathOfAPush),
    layer("HTTPClient", in: .platform, ["Reactor", "CCurl"]),
    layer("CurlTransport", in: .platform, ["HTTP2", "HTTPClient", "Reactor", "CCurl"]),

    // Pure values: no C, no input or output.
    layer("Model", in: .domain, []),
    // Its module cannot be called as its folder: a package that Hummingbird's tests need has one of that name.
    layer(
      "PushpoolConfiguration", in: .domain, ["Model", .product(name: "Yams", package: "Yams")],
      folder: "Configuration"),

    layer(
      "Store", in: .engine, ["PushpoolConfiguration", "Model", "Redis", "Reactor", "COpenSSL"],
      resources: [
        "Library/keys", "Library/libraries", "Library/library", "Library/limits", "Library/numbers",
        "Library/sections", "Library/types", "Library/walks",
        "Fleet/apps", "Fleet/credentials", "Fleet/rates",
        "Audiences/audience", "Audiences/index", "Audiences/indexing", "Audiences/reading",
        "Audiences/topics",
        "Chunks/chunk", "Chunks/chunks", "Chunks/fairness", "Chunks/leases", "Chunks/mass_death",
        "Chunks/promotion", "Chunks/ready", "Chunks/settlement",
        "DeadLetters/dead_letters",
        "Installations/amending", "Installations/badges", "Installations/bindings",
        "Installations/exporting", "Installations/installations", "Installations/mending",
        "Installations/variables",
        "Jobs/direct", "Jobs/jobs", "Jobs/loops", "Jobs/names", "Jobs/reconcile",
        "Jobs/refusals", "Jobs/rescuing", "Jobs/rounds", "Jobs/taking", "Jobs/waiting",
        "Monitoring/alarms", "Monitoring/metrics", "Switches/switches",
        "Traces/traces",
        "Work/streams", "Work/work",
        "Workers/route_alarms", "Workers/route_taking", "Workers/routes", "Workers/stepping",
        "Workers/workers",
      ].map { .embedInCode("Functions/\($0).lua") }
        + ["json", "nearest", "fields", "guard", "registration", "submission"].map {
          .embedInCode("Registration/\($0).lua")
        }),
    layer(
      "Providers", in: .engine,
      ["Model", "PushpoolConfiguration", "HTTPClient", "HTTP2", "Reactor", "COpenSSL"]),
    layer(
      "Worker", in: .engine,
      [
        "Store", "Providers", "HTTP2", "CurlTransport", "HTTPClient", "PushpoolConfiguration",
        "Model",
        "Redis", "Reactor", "CLinux",
        logging,
      ], settings: pathOfAPush),

    // What operators and backends read and do, for whatever shows it.
    layer(
      "Operations", in: .operations,
      [
        "Store", "Providers", "HTTPClient", "HTTP2", "Redis", "Reactor", "PushpoolConfiguration",
        "Model", "Typesetting", "COpenSSL",
      ]),

    // The stand-in for the push networks, and what a test, a demo or a benchmark starts by itself.
    layer(
      "HTTP2Server", in: .harness, ["HTTP2", "Reactor", "CNGHTTP2"], settings: pathOfAPush),
    layer(
      "Simulator", in: .harness,
      ["LocalServices", "HTTP2Server", "Model", "Reactor", "COpenSSL"]),
    layer("LocalServices", in: .harness, ["Model", "Reactor", "CLinux", "COpenSSL"]),
    layer(
      "Stage", in: .harness,
      ["LocalServices", "Worker", "Store", "Redis", "Reactor", "PushpoolConfiguration"]),

    // How a program finds its configuration, logs, and ends.
    layer(
      "ProgramSetup", in: .programs,
      [
        "Operations", "PushpoolConfiguration", "Model", "Reactor", "Typesetting", "CLinux",
        arguments, logging,
      ]),
    layer(
      "CommandLineInterface", in: .programs,
      [
        "ProgramSetup", "Operations", "Worker", "Providers", "Store", "Redis", "Reactor", "Model",
        "PushpoolConfiguration",
        "Typesetting", "COpenSSL", "CLinux", arguments, logging,
      ]),
    // A program of its own too: what goes to production links nothing of the harness.
    layer(
      "Demo", in: .programs,
      [
        "CommandLineInterface", "ProgramSetup", "Operations", "Store", "Redis", "Model",
        "PushpoolConfiguration",
        "Stage", "LocalServices", "Typesetting", arguments,
      ]),
    // The HTTP API and the dashboard. A program of its own: workers have no open port, and link none of this.
    layer(
      "Server", in: .programs,
      [
        "ProgramSetup", "Operations", "Providers", "Store", "Redis", "Reactor", "Model",
        "PushpoolConfiguration",
        "Typesetting", "COpenSSL", "CLinux", arguments, logging,
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "HummingbirdCore", package: "hummingbird"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
      ],
      resources: [
        "index.html", "style.css", "favicon.svg", "operating.txt",
        "api.js", "app.js", "charts.js", "dialogs.js", "dom.js", "feed.js", "format.js",
        "guide.js", "page.js", "view-acts.js", "view-dead-letters.js", "view-fleet.js",
        "view-job.js", "view-jobs.js", "view-keys.js", "view-look-up.js", "view-overview.js",
      ].map { .embedInCode("Page/Assets/\($0)") }),
    layer(
      "Bench", in: .harness,
      [
        "Stage", "Store", "Redis", "Reactor", "Model", "PushpoolConfiguration", "Providers",
        "HTTPClient",
        "LocalServices", "Typesetting", arguments,
      ]),
    layer(
      "Chaos", in: .harness,
      [
        "Typesetting", "Stage", "Worker", "Store", "Redis", "Reactor", "Model", "LocalServices",
        arguments,
      ]),
    .executableTarget(
      name: "pushpool", dependencies: ["CommandLineInterface"], path: "Sources/Programs/pushpool",
      swiftSettings: swiftSettings),
    .executableTarget(
      name: "pushpool-server", dependencies: ["Server"], path: "Sources/Programs/pushpool-server",
      swiftSettings: swiftSettings),
    .executableTarget(
      name: "pushpool-demo", dependencies: ["Demo"], path: "Sources/Programs/pushpool-demo",
      swiftSettings: swiftSettings),
    .executableTarget(
      name: "pushpool-simulator",
      dependencies: ["Simulator", "LocalServices", "Model", "Reactor", arguments],
      path: "Sources/Programs/pushpool-simulator",
      swiftSettings: swiftSettings),
    .executableTarget(
      name: "pushpool-bench", dependencies: ["Bench", arguments],
      path: "Sources/Programs/pushpool-bench", swiftSettings: swiftSettings),
    .executableTarget(
      name: "pushpool-chaos", dependencies: ["Chaos", arguments],
      path: "Sources/Programs/pushpool-chaos", swiftSettings: swiftSettings),

    .target(
      name: "TestSupport", dependencies: ["LocalServices", "Reactor", "Redis"],
      path: "Tests/Harness/TestSupport",
      swiftSettings: swiftSettings),
    tests("TypesettingTests", in: .platform, ["Typesetting"]),
    tests("ReactorTests", in: .platform, ["Reactor", "LocalServices", "TestSupport"]),
    tests("RedisTests", in: .platform, ["Redis", "LocalServices", "Reactor", "TestSupport"]),
    tests(
      "HTTP2Tests", in: .platform,
      [
        "HTTP2", "HTTP2Server", "CurlTransport", "HTTPClient", "Reactor", "LocalServices",
        "TestSupport",
      ]),
    tests(
      "HTTPClientTests", in: .platform, ["HTTPClient", "Reactor", "LocalServices", "TestSupport"]),
    tests("ModelTests", in: .domain, ["Model"]),
    tests("ConfigurationTests", in: .domain, ["PushpoolConfiguration", "TestSupport"]),
    tests("StoreTests", in: .engine, ["Store", "LocalServices", "TestSupport"]),
    tests(
      "ProvidersTests", in: .engine, ["Providers", "LocalServices", "Simulator", "TestSupport"]),
    tests(
      "WorkerTests", in: .engine,
      [
        "Worker", "HTTP2", "LocalServices", "Model", "Providers", "Reactor", "Redis", "Store",
        "TestSupport", logging,
      ]),
    tests(
      "OperationsTests", in: .operations,
      [
        "Operations", "PushpoolConfiguration", "LocalServices", "Model", "Providers", "Reactor",
        "Redis", "Simulator",
        "Stage", "Store", "TestSupport",
      ]),
    tests(
      "SimulatorTests", in: .harness,
      [
        "Simulator", "LocalServices", "HTTP2", "Model", "Reactor", "COpenSSL", "TestSupport",
        "pushpool-simulator",
      ]),
    tests("LocalServicesTests", in: .harness, ["LocalServices", "Model", "Reactor"]),
    tests(
      "StageTests", in: .harness,
      [
        "Stage", "PushpoolConfiguration", "LocalServices", "Model", "Redis", "Reactor", "Store",
        "TestSupport",
        "pushpool", "pushpool-simulator",
      ]),
    tests("BenchTests", in: .harness, ["Bench", "LocalServices", "Model", arguments]),
    tests(
      "ChaosTests", in: .harness,
      [
        "Chaos", "PushpoolConfiguration", "LocalServices", "Model", "Redis", "Store", "pushpool",
        "pushpool-simulator",
      ]),
    tests(
      "CommandLineTests", in: .programs,
      [
        "CommandLineInterface", "ProgramSetup", "PushpoolConfiguration", "LocalServices", "Model",
        "Reactor", "Redis",
        "Store", "TestSupport", "Typesetting", "pushpool", "pushpool-demo", "pushpool-simulator",
        logging,
      ]),
    tests(
      "ServerTests", in: .programs,
      [
        "Server", "Operations", "Providers", "PushpoolConfiguration", "LocalServices", "Model",
        "Reactor", "Redis", "Typesetting", "COpenSSL",
        "Stage", "Store", "TestSupport", "pushpool-server", "pushpool", "pushpool-simulator",
        logging,
      ]),
    tests(
      "EndToEndTests", in: .programs,
      [
        "Worker", "Stage", "LocalServices", "Simulator", "PushpoolConfiguration", "Model",
        "Reactor",
        "Redis", "Store", "TestSupport", "pushpool", logging,
      ], resources: [.copy("BadJobs")]),
    tests(
      "FuzzTests", in: .programs,
      [
        "PushpoolConfiguration", "HTTP2", "HTTP2Server", "LocalServices", "Model", "Providers",
        "Reactor",
        "Redis", "Store", "TestSupport",
      ]),
  ]
)

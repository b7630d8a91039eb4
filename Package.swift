// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

/// The folders under `Sources/` and `Tests/`: deploy/checks/imports says which of them may use which.
enum Layer: String {
    case values = "Values"
    case useCases = "UseCases"
    case adapters = "Adapters"
    case simulators = "Simulators"
    case programs = "Programs"
    case client = "Client"

    /// - Parameter hasGuide: Whether its README.md stands beside it.
    func library(
        _ name: String, _ dependencies: [Target.Dependency] = [], resources: [Resource] = [],
        hasGuide: Bool = false, excluding excluded: [String] = []
    ) -> Target {
        .target(
            name: name, dependencies: dependencies, path: sources(name),
            exclude: excluded + (hasGuide ? ["README.md"] : []),
            resources: resources, swiftSettings: settings)
    }

    func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
        .executableTarget(
            name: name, dependencies: dependencies, path: sources(name), swiftSettings: settings)
    }

    func systemLibrary(_ name: String, pkgConfig: String? = nil, package: String) -> Target {
        .systemLibrary(name: name, path: sources(name), pkgConfig: pkgConfig, providers: [.apt([package])])
    }

    func tests(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = []) -> Target {
        .testTarget(
            name: name, dependencies: dependencies, path: "Tests/\(rawValue)/\(name)", resources: resources,
            swiftSettings: settings)
    }

    func sources(_ name: String) -> String { "Sources/\(rawValue)/\(name)" }
}

/// A module that tests of several floors use.
func testSupport(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, path: "Tests/\(name)", swiftSettings: settings)
}

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let asyncHTTPClient = Target.Dependency.product(name: "AsyncHTTPClient", package: "async-http-client")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let jwtKit = Target.Dependency.product(name: "JWTKit", package: "jwt-kit")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let coreMetrics = Target.Dependency.product(name: "CoreMetrics", package: "swift-metrics")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let metrics = Target.Dependency.product(name: "Metrics", package: "swift-metrics")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioEmbedded = Target.Dependency.product(name: "NIOEmbedded", package: "swift-nio")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioHPACK = Target.Dependency.product(name: "NIOHPACK", package: "swift-nio-http2")
let nioHTTP2 = Target.Dependency.product(name: "NIOHTTP2", package: "swift-nio-http2")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioSSL = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
let nioTLS = Target.Dependency.product(name: "NIOTLS", package: "swift-nio")
let swiftASN1 = Target.Dependency.product(name: "SwiftASN1", package: "swift-asn1")
let tracing = Target.Dependency.product(name: "Tracing", package: "swift-distributed-tracing")
let unixSignals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")
let serviceLifecycle = Target.Dependency.product(
    name: "ServiceLifecycle", package: "swift-service-lifecycle")

let x509 = Target.Dependency.product(name: "X509", package: "swift-certificates")

let package = Package(
    name: "doorstep",
    // For DoorstepClient. What runs on servers is built on Linux.
    platforms: [.iOS(.v16)],
    products: [
        .executable(name: "doorstep", targets: ["Doorstep"]),
        .library(name: "APNsPayload", targets: ["APNsPayload"]),
        .library(name: "DoorstepClient", targets: ["DoorstepClient"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser.git", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-asn1.git", exact: "1.7.4"),
        .package(url: "https://github.com/apple/swift-certificates.git", exact: "1.21.1"),
        .package(url: "https://github.com/apple/swift-crypto.git", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-distributed-tracing.git", exact: "1.7.3"),
        .package(url: "https://github.com/apple/swift-http-types.git", exact: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log.git", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics.git", exact: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio.git", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-http2.git", exact: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", exact: "2.37.6"),
        .package(url: "https://github.com/swift-server/async-http-client.git", exact: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", exact: "2.13.0"),
        .package(url: "https://github.com/vapor/jwt-kit.git", exact: "5.7.1"),
    ],
    targets: [
        Layer.values.library("Formats"),
        Layer.values.library("Codes"),
        Layer.values.library("Tenancy", ["Formats"]),
        Layer.values.library("Geodesy"),
        Layer.values.library("Cards", ["Formats", "Geodesy", crypto]),
        Layer.values.library("Invocation", ["Codes", "Formats", "Tenancy"]),
        Layer.values.library("APNsPayload", ["Formats"]),
        Layer.values.library(
            "AppAttest",
            ["Formats", "Invocation", "Tenancy", crypto, swiftASN1, x509]),
        Layer.values.library(
            "Receipts", ["AppAttest", "Formats", "Invocation", "Tenancy", crypto]),
        Layer.values.library(
            "Lookups",
            ["AppAttest", "Cards", "Formats", "Geodesy", "Invocation", "Tenancy"]),

        Layer.useCases.library(
            "Confirmations",
            ["AppAttest", "Formats", "Geodesy", "Invocation", "Lookups", "Receipts", "Tenancy"]),
        Layer.useCases.library(
            "Notifications",
            ["APNsPayload", "AppAttest", "Formats", "Invocation", "Lookups", "Receipts", "Tenancy"]),
        Layer.useCases.library(
            "Administration",
            ["AppAttest", "Cards", "Formats", "Geodesy", "Invocation", "Lookups", "Tenancy"]),
        Layer.useCases.library(
            "AppStoreSync", ["Cards", "Formats", "Geodesy", "Invocation", "Tenancy"]),

        Layer.adapters.systemLibrary("CLibPQ", pkgConfig: "libpq", package: "libpq-dev"),
        Layer.adapters.systemLibrary("CZlib", pkgConfig: "zlib", package: "zlib1g-dev"),
        Layer.adapters.library("PostgreSQL", ["CLibPQ"]),
        Layer.adapters.library("EmbeddedPostgreSQL", []),
        .target(
            name: "CBuild", path: Layer.adapters.sources("CBuild"),
            cSettings: [
                .define("DOORSTEP_COMMIT", to: Context.environment["DOORSTEP_COMMIT"] ?? "unknown"),
                .define("DOORSTEP_COMMIT_DATE", to: Context.environment["DOORSTEP_COMMIT_DATE"] ?? "unknown"),
            ]),
        Layer.adapters.library("Platform", ["CBuild", "CZlib"]),
        Layer.adapters.library(
            "HTTPServer",
            [
                "Formats", "Platform", httpTypes, logging, nioCore, nioHPACK, nioHTTP1, nioHTTP2, nioPosix,
                nioSSL, nioTLS,
            ]),
        Layer.adapters.systemLibrary("CResolv", package: "libc6-dev"),
        Layer.adapters.library(
            "OutboundHTTP",
            ["Formats", "Platform", asyncHTTPClient, nioCore, nioHTTP1, nioPosix, nioSSL, tracing]),
        Layer.adapters.library(
            "TraceExport",
            ["Formats", "OutboundHTTP", asyncHTTPClient, logging, nioHTTP1, serviceLifecycle, tracing]),
        Layer.adapters.library(
            "ServerClient",
            [
                "Administration", "Cards", "Formats", "Invocation", "Lookups", "Notifications",
                "OutboundHTTP", "Tenancy", asyncHTTPClient, nioCore, nioHTTP1,
            ]),
        Layer.adapters.library(
            "AppStoreConnect",
            [
                "AppStoreSync", "Cards", "Formats", "OutboundHTTP", "Tenancy", asyncHTTPClient, jwtKit,
                nioHTTP1,
            ]),
        Layer.adapters.library(
            "TenantSites",
            [
                "Administration", "CResolv", "Formats", "Notifications", "OutboundHTTP", "Platform",
                asyncHTTPClient, crypto, nioHTTP1,
            ]),
        Layer.adapters.library(
            "Persistence",
            [
                "Administration", "APNsPayload", "AppAttest", "AppStoreSync", "Cards", "Confirmations",
                "Formats", "Geodesy", "Invocation", "Lookups", "Notifications", "Platform", "PostgreSQL",
                "Receipts", "Tenancy", crypto,
            ],
            resources: [.embedInCode("Migrations"), .embedInCode("roles.sql")]),
        Layer.adapters.library(
            "APNsClient",
            [
                "APNsPayload", "Formats", "Notifications", "Tenancy", coreMetrics, jwtKit, logging, metrics,
                nioCore, nioHPACK, nioHTTP2, nioPosix, nioSSL, nioTLS, serviceLifecycle, tracing,
            ]),
        Layer.simulators.library(
            "APNsSimulator",
            [
                "APNsPayload", "Formats", "HTTPServer", "Platform", crypto, httpTypes, nioCore, nioHPACK,
                nioHTTP2, nioPosix, nioSSL, nioTLS, swiftASN1, x509,
            ]),
        Layer.simulators.library(
            "AppStoreConnectSimulator",
            ["Cards", "Formats", "HTTPServer", crypto, httpTypes, nioCore, nioPosix],
            resources: [.embedInCode("specification.json")]),
        Layer.simulators.library(
            "AppAttestSimulator", ["AppAttest", "Invocation", crypto, swiftASN1, x509]),
        .target(
            name: "COpenAPI", path: Layer.adapters.sources("COpenAPI"), exclude: ["openapi.json"]),
        Layer.adapters.library(
            "HTTPAPI",
            [
                "Administration", "APNsPayload", "AppAttest", "AppStoreSync", "Cards", "Confirmations",
                "COpenAPI", "CZlib", "Formats", "Geodesy", "HTTPServer", "Invocation", "Lookups",
                "Notifications", "Platform", "Receipts", "Tenancy", crypto, httpTypes, logging, metrics,
                nioCore, serviceLifecycle, tracing,
            ],
            excluding: ["OpenAPI"]),
        Layer.adapters.library(
            "LandingPages",
            ["Cards", "Codes", "Formats", "Invocation", "Lookups", "Platform", "Tenancy", crypto, httpTypes]),
        Layer.adapters.library(
            "Console",
            [
                "Administration", "AppStoreSync", "Cards", "Codes", "Confirmations", "Formats", "Geodesy",
                "HTTPServer", "Invocation", "Lookups", "Notifications", "Persistence", "Platform", "Receipts",
                "Tenancy", crypto, httpTypes, logging, serviceLifecycle,
            ],
            resources: [.embedInCode("Assets")]),
        Layer.programs.program(
            "Doorstep",
            [
                "Administration", "APNsClient", "APNsPayload", "APNsSimulator", "AppAttest",
                "AppAttestSimulator", "AppStoreConnect", "AppStoreConnectSimulator", "AppStoreSync", "Cards",
                "Codes", "Confirmations", "Console", "EmbeddedPostgreSQL", "Formats", "Geodesy", "HTTPAPI",
                "HTTPServer", "Invocation", "LandingPages", "Lookups", "Notifications", "OutboundHTTP",
                "Persistence", "Platform", "PostgreSQL", "Receipts", "ServerClient", "Tenancy", "TenantSites",
                "TraceExport", argumentParser, crypto, logging, metrics, serviceLifecycle, tracing,
                unixSignals,
            ]),
        .target(name: "CAllocations", path: Layer.programs.sources("CAllocations")),
        Layer.programs.program(
            "Benchmarks",
            [
                "APNsClient", "APNsPayload", "APNsSimulator", "AppAttest", "AppAttestSimulator",
                "CAllocations", "Codes", "Confirmations", "Formats", "Geodesy", "Invocation", "LandingPages",
                "Lookups", "Notifications", "Persistence", "Platform", "PostgreSQL", "Tenancy",
                argumentParser, crypto, httpTypes, logging,
            ]),

        Layer.client.library("DoorstepClient", hasGuide: true),

        testSupport("PropertyTesting", []),
        .target(name: "CSteps", path: "Tests/CSteps"),
        testSupport("ProcessSupport", []),
        testSupport(
            "FuzzTargets",
            [
                "Administration", "APNsPayload", "AppAttest", "Cards", "Formats", "Invocation", "Lookups",
                "Notifications", "PostgreSQL", "Receipts", "Tenancy", "TenantSites",
            ]),
        .testTarget(
            name: "FuzzTargetsTests", dependencies: ["Administration", "AppAttest", "FuzzTargets"],
            path: "Tests/FuzzTargetsTests", resources: [.copy("Seeds")], swiftSettings: settings),
        testSupport(
            "TestSupport",
            [
                "Administration", "EmbeddedPostgreSQL", "Invocation", "Persistence", "PostgreSQL",
                "ProcessSupport", "Tenancy",
            ]),
        Layer.values.tests("TenancyTests", ["PropertyTesting", "Tenancy"]),
        Layer.values.tests("FormatsTests", ["Formats", "PropertyTesting"]),
        Layer.values.tests("CodesTests", ["Codes", "PropertyTesting"], resources: [.copy("Vectors")]),
        Layer.values.tests(
            "CardsTests", ["Cards", "Formats", "Geodesy", "PropertyTesting"]),
        Layer.values.tests("GeodesyTests", ["Geodesy", "PropertyTesting"], resources: [.copy("Vectors")]),
        Layer.values.tests(
            "InvocationTests", ["Codes", "Formats", "Invocation", "PropertyTesting", "Tenancy"],
            resources: [.copy("Vectors")]),
        Layer.values.tests(
            "APNsPayloadTests", ["APNsPayload", "Formats", "PropertyTesting"], resources: [.copy("Vectors")]),
        Layer.values.tests(
            "AppAttestTests",
            [
                "AppAttest", "AppAttestSimulator", "Formats", "Invocation", "PropertyTesting", "Tenancy",
                crypto,
            ],
            resources: [.copy("Vectors")]),
        Layer.values.tests(
            "LookupsTests",
            [
                "AppAttest", "Cards", "Formats", "Geodesy", "Invocation", "Lookups", "PropertyTesting",
                "Tenancy", "ValueFixtures",
            ],
            resources: [.copy("Vectors")]),
        testSupport("ValueFixtures", ["Formats", "Invocation", "Lookups", "Tenancy", crypto]),
        Layer.values.tests(
            "ReceiptsTests",
            ["Formats", "Invocation", "Receipts", "Tenancy", "ValueFixtures"]),
        Layer.useCases.tests(
            "ConfirmationsTests",
            [
                "AppAttest", "Confirmations", "Geodesy", "Invocation", "Lookups", "Receipts", "Tenancy",
                "ValueFixtures",
            ]),
        Layer.useCases.tests(
            "NotificationsTests",
            [
                "APNsPayload", "AppAttest", "Formats", "Invocation", "Lookups", "Notifications",
                "PropertyTesting", "Receipts", "Tenancy", "ValueFixtures",
            ]),
        Layer.useCases.tests(
            "AdministrationTests",
            [
                "Administration", "AppAttest", "Cards", "Formats", "Geodesy", "Invocation", "Lookups",
                "PropertyTesting", "Tenancy", "ValueFixtures",
            ]),
        Layer.useCases.tests(
            "AppStoreSyncTests",
            ["AppStoreSync", "Cards", "Formats", "Geodesy", "Invocation", "PropertyTesting"]),
        testSupport("StoreSupport", ["AppStoreConnectSimulator", "Formats", crypto]),
        Layer.simulators.tests(
            "AppStoreConnectSimulatorTests",
            [
                "AppStoreConnectSimulator", "Formats", "StoreSupport", asyncHTTPClient, crypto, nioCore,
                nioHTTP1,
            ]),
        testSupport("LocalServers", ["ProcessSupport", nioCore, nioHTTP1, nioPosix, nioSSL]),
        Layer.adapters.tests(
            "OutboundHTTPTests",
            [
                "Formats", "LocalServers", "OutboundHTTP", "Platform", asyncHTTPClient, nioCore, nioHTTP1,
                nioPosix, nioSSL,
            ]),
        Layer.adapters.tests(
            "TraceExportTests",
            ["Formats", "LocalServers", "OutboundHTTP", "TraceExport", logging, tracing]),
        Layer.adapters.tests(
            "TenantSitesTests",
            ["Administration", "Formats", "LocalServers", "Notifications", "OutboundHTTP", "TenantSites"]),
        Layer.adapters.tests(
            "AppStoreConnectTests",
            [
                "AppStoreConnect", "AppStoreConnectSimulator", "AppStoreSync", "Cards", "Formats", "Geodesy",
                "Invocation", "LocalServers", "OutboundHTTP", "StoreSupport", "TraceExport", crypto, tracing,
            ]),
        Layer.adapters.tests(
            "ServerClientTests", ["Administration", "Formats", "LocalServers", "ServerClient", "Tenancy"]),
        Layer.adapters.tests("PlatformTests", ["Platform"]),
        Layer.adapters.tests(
            "HTTPServerTests",
            [
                "Formats", "HTTPServer", crypto, httpTypes, logging, nioCore, nioEmbedded, nioHPACK, nioHTTP1,
                nioHTTP2, nioPosix, nioSSL, swiftASN1, x509,
            ]),
        testSupport("HTTPTestClient", ["HTTPServer", httpTypes, nioCore, nioHTTP1, nioPosix]),
        Layer.adapters.tests(
            "EmbeddedPostgreSQLTests", ["EmbeddedPostgreSQL", "PostgreSQL", "ProcessSupport", "TestSupport"]),
        Layer.adapters.tests(
            "PostgreSQLTests", ["EmbeddedPostgreSQL", "PostgreSQL", "PropertyTesting", "TestSupport"]),
        Layer.adapters.tests(
            "PersistenceTests",
            [
                "Administration", "APNsPayload", "AppAttest", "AppAttestSimulator", "AppStoreSync", "Cards",
                "Confirmations", "EmbeddedPostgreSQL", "Formats", "Geodesy", "Invocation", "Lookups",
                "Notifications", "Persistence", "PostgreSQL", "ProcessSupport", "PropertyTesting", "Receipts",
                "StoreSupport", "Tenancy", "TestSupport", "ValueFixtures", crypto,
            ]),
        Layer.adapters.tests(
            "ConsoleTests",
            [
                "Administration", "Cards", "Confirmations", "Console", "Formats", "Geodesy", "HTTPAPI",
                "HTTPServer", "HTTPTestClient", "Invocation", "LandingPages", "Lookups", "Notifications",
                "Persistence", "PostgreSQL", "Receipts", "StoreSupport", "Tenancy", "TestSupport",
                "ValueFixtures", httpTypes, logging, nioCore,
            ]),
        Layer.client.tests(
            "DoorstepClientTests",
            [
                "AppAttest", "AppAttestSimulator", "DoorstepClient", "Formats", "Invocation", "Receipts",
                "Tenancy", crypto,
            ]),
        Layer.simulators.tests(
            "APNsSimulatorTests",
            [
                "APNsClient", "APNsPayload", "APNsSimulator", "Formats", "Notifications", "Tenancy",
                asyncHTTPClient, crypto, logging, nioCore, nioHPACK, nioHTTP1, nioHTTP2, nioPosix, nioSSL,
            ]),
        Layer.adapters.tests(
            "APNsClientTests",
            [
                "APNsClient", "APNsPayload", "APNsSimulator", "Formats", "Notifications", "PropertyTesting",
                "Tenancy", crypto, logging, metrics, nioCore, nioHPACK, nioHTTP2, nioPosix, nioSSL,
            ]),
        Layer.adapters.tests(
            "HTTPAPITests",
            [
                "Administration", "APNsClient", "APNsPayload", "AppAttest", "AppAttestSimulator",
                "AppStoreSync", "Cards", "Confirmations", "CSteps", "CZlib", "Formats", "FuzzTargets",
                "Geodesy", "HTTPAPI", "HTTPServer", "HTTPTestClient", "Invocation", "LandingPages", "Lookups",
                "Notifications", "PostgreSQL", "PropertyTesting", "Receipts", "StoreSupport", "Tenancy",
                "TenantSites", "ValueFixtures", crypto, httpTypes, logging, metrics, nioCore, nioEmbedded,
                nioHPACK, nioHTTP1, nioPosix, serviceLifecycle, swiftASN1, x509,
            ]),
        Layer.adapters.tests(
            "LandingPagesTests",
            [
                "Cards", "Codes", "Formats", "Invocation", "LandingPages", "Lookups", "PropertyTesting",
                "Tenancy", "ValueFixtures", crypto, httpTypes,
            ], resources: [.copy("Vectors")]),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "Administration", "APNsClient", "APNsPayload", "APNsSimulator", "AppAttest",
                "AppAttestSimulator", "AppStoreConnect", "AppStoreConnectSimulator", "AppStoreSync", "Cards",
                "Codes", "Doorstep", "DoorstepClient", "EmbeddedPostgreSQL", "Formats", "HTTPAPI",
                "Invocation", "LocalServers", "Lookups", "Notifications", "OutboundHTTP", "Persistence",
                "PostgreSQL", "ProcessSupport", "PropertyTesting", "StoreSupport", "Tenancy", "TestSupport",
                asyncHTTPClient, crypto, logging, nioCore, nioHTTP1, nioPosix, nioSSL,
            ],
            path: "Tests/EndToEndTests", swiftSettings: settings),
    ]
)

// With this set, by .ci/run, the compiler optimizes the modules in which tests spend most of their time: the values and the database
// driver. deploy/swift then also compiles whole modules. The variable's name does not begin with DOORSTEP_, because the program warns
// of unknown ones that do.
if Context.environment["OPTIMIZED_DEBUG_BUILD"] != nil {
    for target in package.targets where target.type == .regular {
        guard target.path?.hasPrefix("Sources/Values/") == true || target.name == "PostgreSQL" else {
            continue
        }
        target.swiftSettings =
            (target.swiftSettings ?? []) + [.unsafeFlags(["-O"], .when(configuration: .debug))]
    }
}

// libFuzzer brings the main function, so that without `--sanitize fuzzer` there is none: deploy/checks/fuzz asks for it.
if Context.environment["DOORSTEP_FUZZER"] != nil {
    package.targets.append(
        .executableTarget(
            name: "Fuzzer", dependencies: ["FuzzTargets"], path: "Tests/Fuzzer",
            swiftSettings: settings + [.unsafeFlags(["-parse-as-library"])]))
}

// The thread sanitizer knows the locks of pthreads, and not those of Synchronization on Linux. With this set, by
// deploy/checks/sanitizers, our targets have a Synchronization and checked continuations of our own; CThreadSanitizer says what
// else it is told, and what is kept from it.
if Context.environment["DOORSTEP_THREAD_SANITIZER"] != nil {
    for target in package.targets where target.type != .system {
        target.dependencies += ["AcquiringContinuations", "PthreadSynchronization"]
        target.swiftSettings =
            (target.swiftSettings ?? []) + [
                .unsafeFlags([
                    "-module-alias", "Synchronization=PthreadSynchronization",
                    "-Xfrontend", "-import-module", "-Xfrontend", "AcquiringContinuations",
                ])
            ]
    }
    package.targets += [
        testSupport("PthreadSynchronization", []),
        testSupport("AcquiringContinuations", ["CThreadSanitizer"]),
        .target(
            name: "CThreadSanitizer", path: "Tests/CThreadSanitizer",
            linkerSettings: [.unsafeFlags(["-Xlinker", "--wrap=__tsan_external_write"])]),
    ]
}

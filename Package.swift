// swift-tools-version: 6.2

import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// Pure values: the standard library, Foundation and other leaves.
func leaf(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

/// Use cases: they own the decisions, and name the ports they need.
func useCase(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

/// Adapters: all the input and output.
func adapter(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = []) -> Target {
    .target(name: name, dependencies: dependencies, resources: resources, swiftSettings: settings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = []) -> Target {
    .testTarget(
        name: name, dependencies: dependencies, resources: resources, swiftSettings: settings)
}

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let asyncHTTPClient = Target.Dependency.product(name: "AsyncHTTPClient", package: "async-http-client")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let hummingbirdCore = Target.Dependency.product(name: "HummingbirdCore", package: "hummingbird")
let hummingbirdHTTP2 = Target.Dependency.product(name: "HummingbirdHTTP2", package: "hummingbird")
let hummingbirdTesting = Target.Dependency.product(name: "HummingbirdTesting", package: "hummingbird")
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
let nioHTTPTypes = Target.Dependency.product(name: "NIOHTTPTypes", package: "swift-nio-extras")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioSSL = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
let nioTLS = Target.Dependency.product(name: "NIOTLS", package: "swift-nio")
let swiftASN1 = Target.Dependency.product(name: "SwiftASN1", package: "swift-asn1")
let unixSignals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")
let serviceLifecycle = Target.Dependency.product(
    name: "ServiceLifecycle", package: "swift-service-lifecycle")

let x509 = Target.Dependency.product(name: "X509", package: "swift-certificates")

let package = Package(
    name: "doorstep",
    products: [
        .executable(name: "doorstep", targets: ["Doorstep"]),
        .library(name: "APNsPayload", targets: ["APNsPayload"]),
    ],
    dependencies: [
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.1"),
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-asn1.git", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-certificates.git", from: "1.21.1"),
        .package(url: "https://github.com/apple/swift-crypto.git", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras.git", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-http2.git", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.6"),
        .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.13.0"),
        .package(url: "https://github.com/vapor/jwt-kit.git", from: "5.7.1"),
    ],
    targets: [
        leaf("Tenancy"),
        leaf("JSON"),
        leaf("Geodesy"),
        leaf("Invocation", ["Tenancy"]),
        leaf("APNsPayload", ["JSON"]),
        leaf("AppSiteAssociation", ["Invocation", "JSON", "Tenancy"]),
        leaf("RateLimiting"),
        leaf("Routing", ["Geodesy", "Invocation", "RateLimiting", "Tenancy"]),

        useCase("Locations", ["Geodesy", "Invocation", "Routing", "Tenancy"]),
        useCase("Notifications", ["APNsPayload", "Invocation", "JSON", "Routing", "Tenancy"]),
        useCase(
            "Administration",
            ["AppSiteAssociation", "Geodesy", "Invocation", "JSON", "RateLimiting", "Tenancy"]),

        .systemLibrary(name: "CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        adapter("PostgreSQL", ["CLibPQ"]),
        adapter("EmbeddedPostgreSQL", []),
        adapter("Platform", []),
        .systemLibrary(name: "CResolv", providers: [.apt(["libc6-dev"])]),
        adapter(
            "DomainProof",
            ["Administration", "CResolv", asyncHTTPClient, nioCore, nioHTTP1, nioPosix, nioSSL]),
        adapter(
            "WebhookClient",
            ["Notifications", asyncHTTPClient, crypto, nioCore, nioHTTP1, nioPosix, nioSSL]),
        adapter(
            "Persistence",
            [
                "APNsPayload", "Administration", "AppSiteAssociation", "Geodesy", "Invocation", "JSON",
                "Locations", "Notifications", "Platform",
                "PostgreSQL", "RateLimiting", "Routing", "Tenancy", crypto,
            ],
            resources: [.embedInCode("Migrations"), .embedInCode("roles.sql")]),
        adapter(
            "APNsClient",
            [
                "APNsPayload", "JSON", "Notifications", "Tenancy", coreMetrics, jwtKit, logging, metrics,
                nioCore, nioHPACK,
                nioHTTP2, nioPosix, nioSSL, nioTLS, serviceLifecycle,
            ]),
        adapter(
            "APNsSimulator",
            [
                "APNsPayload", "JSON", "Notifications", "Platform", crypto, nioCore, nioHPACK, nioHTTP1,
                nioHTTP2,
                nioPosix, nioSSL, nioTLS, swiftASN1, x509,
            ]),
        adapter(
            "HTTPAPI",
            [
                "APNsPayload", "Administration", "AppSiteAssociation", "Geodesy", "Invocation", "JSON",
                "Locations", "Notifications", "RateLimiting", "Routing", "Tenancy", crypto, hummingbird,
                hummingbirdCore, hummingbirdHTTP2, httpTypes, logging, metrics, nioCore, nioHTTP1,
                nioHTTPTypes,
                nioSSL, nioTLS, serviceLifecycle,
            ],
            resources: [.embedInCode("openapi.json")]),
        .executableTarget(
            name: "Doorstep",
            dependencies: [
                "APNsClient", "APNsPayload", "APNsSimulator", "Administration", "AppSiteAssociation",
                "DomainProof", "EmbeddedPostgreSQL", "Geodesy", "HTTPAPI", "Invocation", "JSON", "Platform",
                "Locations",
                "Notifications", "Persistence",
                "PostgreSQL", "RateLimiting", "Routing", "Tenancy", "WebhookClient", argumentParser, crypto,
                logging, metrics,
                serviceLifecycle, unixSignals,
            ],
            swiftSettings: settings),
        .target(name: "CAllocations"),
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "APNsClient", "APNsPayload", "APNsSimulator", "CAllocations", "Geodesy", "Invocation", "JSON",
                "Locations", "Notifications", "Persistence", "Platform",
                "PostgreSQL", "Routing", "Tenancy", argumentParser, crypto, logging,
            ],
            swiftSettings: settings),

        .target(name: "PropertyTesting", path: "Tests/PropertyTesting", swiftSettings: settings),
        .target(name: "CSteps", path: "Tests/CSteps"),
        .target(
            name: "TestSupport",
            dependencies: ["EmbeddedPostgreSQL", "Persistence", "PostgreSQL"],
            path: "Tests/TestSupport",
            swiftSettings: settings),
        tests("TenancyTests", ["Tenancy"]),
        tests("RateLimitingTests", ["PropertyTesting", "RateLimiting"]),
        tests("JSONTests", ["JSON", "PropertyTesting"]),
        tests("GeodesyTests", ["Geodesy", "PropertyTesting"], resources: [.copy("Vectors")]),
        tests(
            "InvocationTests", ["Invocation", "PropertyTesting", "Tenancy"], resources: [.copy("Vectors")]),
        tests("APNsPayloadTests", ["APNsPayload", "JSON", "PropertyTesting"], resources: [.copy("Vectors")]),
        tests("AppSiteAssociationTests", ["AppSiteAssociation", "Invocation", "JSON", "Tenancy"]),
        tests(
            "RoutingTests",
            [
                "Geodesy", "Invocation", "PropertyTesting", "RateLimiting", "Routing", "RoutingSupport",
                "Tenancy",
            ],
            resources: [.copy("Vectors")]),
        .target(
            name: "RoutingSupport", dependencies: ["Invocation", "RateLimiting", "Routing", "Tenancy"],
            path: "Tests/RoutingSupport", swiftSettings: settings),
        tests(
            "LocationsTests", ["Geodesy", "Invocation", "Locations", "Routing", "RoutingSupport", "Tenancy"]),
        tests(
            "NotificationsTests",
            [
                "APNsPayload", "Invocation", "JSON", "Notifications", "PropertyTesting", "Routing",
                "RoutingSupport", "Tenancy",
            ]),
        tests(
            "AdministrationTests",
            [
                "Administration", "AppSiteAssociation", "Geodesy", "Invocation", "JSON", "PropertyTesting",
                "RateLimiting", "Tenancy",
            ]),
        .target(
            name: "LocalServers", dependencies: [nioCore, nioHTTP1, nioPosix, nioSSL],
            path: "Tests/LocalServers", swiftSettings: settings),
        tests(
            "DomainProofTests",
            [
                "Administration", "DomainProof", "LocalServers", asyncHTTPClient, nioCore, nioHTTP1, nioSSL,
            ]),
        tests(
            "WebhookClientTests",
            [
                "LocalServers", "Notifications", "WebhookClient", asyncHTTPClient, nioCore, nioHTTP1, nioSSL,
            ]),
        tests("EmbeddedPostgreSQLTests", ["EmbeddedPostgreSQL", "PostgreSQL"]),
        tests("PostgreSQLTests", ["EmbeddedPostgreSQL", "PostgreSQL", "PropertyTesting", "TestSupport"]),
        tests(
            "PersistenceTests",
            [
                "APNsPayload", "Administration", "AppSiteAssociation", "EmbeddedPostgreSQL", "Geodesy",
                "Invocation", "JSON",
                "Locations", "Notifications", "Persistence", "PostgreSQL", "PropertyTesting", "RateLimiting",
                "Routing", "Tenancy", "TestSupport",
            ]),
        tests(
            "APNsSimulatorTests",
            [
                "APNsClient", "APNsPayload", "APNsSimulator", "JSON", "Notifications", asyncHTTPClient,
                crypto,
                logging, nioCore, nioHPACK, nioHTTP1, nioHTTP2, nioPosix, nioSSL,
            ]),
        tests(
            "APNsClientTests",
            [
                "APNsClient", "APNsPayload", "APNsSimulator", "JSON", "Notifications", "PropertyTesting",
                "Tenancy", crypto, logging, metrics, nioCore, nioHPACK, nioHTTP2, nioPosix, nioSSL,
            ]),
        tests(
            "HTTPAPITests",
            [
                "APNsClient", "APNsPayload", "Administration", "CSteps", "DomainProof", "Geodesy", "HTTPAPI",
                "Invocation", "JSON", "Locations",
                "Notifications", "PropertyTesting", "RateLimiting", "Routing", "RoutingSupport", "Tenancy",
                crypto, httpTypes, hummingbird,
                hummingbirdCore,
                hummingbirdTesting,
                logging, metrics, nioCore, nioEmbedded, nioHPACK, nioHTTP1, nioHTTPTypes, nioPosix,
                serviceLifecycle,
            ]),
        tests(
            "EndToEndTests",
            [
                "APNsClient", "APNsPayload", "APNsSimulator", "LocalServers", "Doorstep",
                "EmbeddedPostgreSQL", "HTTPAPI",
                "JSON", "Notifications", "Persistence", "PostgreSQL", "PropertyTesting", "Routing", "Tenancy",
                "TestSupport", asyncHTTPClient,
                crypto, logging, nioCore, nioHTTP1, nioPosix, nioSSL,
            ]),
    ]
)

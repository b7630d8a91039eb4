import Crypto
import Formats
import Foundation
import HTTPServer
import HTTPTypes
import Platform

/// The files that pages load: the console's own files, which are part of the binary, and Leaflet's, which the start reads.
struct Assets: Sendable {
    private struct File: Sendable {
        let type: String
        /// Empty if the file exists only encoded. Every browser accepts the encoding.
        let plain: [UInt8]
        /// By name of the encoding.
        var encoded: [String: [UInt8]] = [:]
    }

    private let files: [String: File]
    /// A hash of all files. It is part of their paths, so that the content of a path never changes.
    private let bundle: String
    /// The address of Leaflet's module; nil without Leaflet's files.
    let leaflet: HTMLLink?
    /// Map tiles instead of the console's own basemap.
    let tiles: TileSource?

    /// - Parameter folder: the folder of Leaflet's files. Only a fixed list of files is read.
    init(leaflet folder: String?, tiles: TileSource? = nil) {
        self.tiles = tiles
        var files: [String: File] = [
            "console.css": File(type: "text/css", plain: PackageResources.console_css),
            // One module for every page. The map's part does nothing on pages without a map.
            "console.js": File(
                type: "text/javascript", plain: PackageResources.console_js + PackageResources.map_js),
            "login.js": File(type: "text/javascript", plain: PackageResources.login_js),
            "world.json": File(
                type: "application/json", plain: [], encoded: ["gzip": PackageResources.world_json_gz]),
        ]
        let hasLeaflet = folder.map { Self.addLeaflet(in: $0, to: &files) } ?? false
        var hash = SHA256()
        for (name, file) in files.sorted(by: { $0.key < $1.key }) {
            hash.update(data: Array(name.utf8))
            hash.update(data: file.plain)
            for (_, bytes) in file.encoded.sorted(by: { $0.key < $1.key }) { hash.update(data: bytes) }
        }
        let bundle = Base16.text(hash.finalize().prefix(8))
        for (name, file) in files where file.encoded.isEmpty {
            files[name]?.encoded["gzip"] = GzipEncoder.encode(file.plain, .best)
        }
        self.files = files
        self.bundle = bundle
        leaflet = hasLeaflet ? HTMLLink(to: "assets", bundle, "leaflet.js") : nil
    }

    func link(to name: String) -> HTMLLink { HTMLLink(to: "assets", bundle, name) }

    /// - Throws: ``ConsoleRefusal/notFound``.
    func response(
        _ parameters: [Substring: Substring], acceptEncoding: String?
    ) throws -> ServerResponse {
        guard parameters["bundle"].map(String.init) == bundle,
            let file = parameters["name"].flatMap({ files[String($0)] })
        else { throw ConsoleRefusal.notFound }
        var headers: HTTPFields = [
            .contentType: file.type.hasPrefix("text/") ? "\(file.type); charset=utf-8" : file.type,
            .cacheControl: "private, max-age=31536000, immutable",
        ]
        var bytes = file.plain
        if !file.encoded.isEmpty { headers[.vary] = "Accept-Encoding" }
        if let encoded = file.encoded["gzip"],
            file.plain.isEmpty || acceptEncoding?.utf8.span.prefersGzip == true
        {
            bytes = encoded
            headers[.contentEncoding] = "gzip"
        }
        return ServerResponse(.ok, headers, body: .bytes(bytes))
    }

    /// Debian's package contains the files as modules, each with a compressed copy.
    /// - Returns: Whether all required files exist.
    private static func addLeaflet(in folder: String, to files: inout [String: File]) -> Bool {
        func read(_ name: String) -> [UInt8]? {
            FileManager.default.contents(atPath: "\(folder)/\(name)").map { Array($0) }
        }
        guard let module = read("leaflet.esm.min.js") ?? read("leaflet.esm.js"),
            let sheet = read("leaflet.css")
        else { return false }
        var file = File(type: "text/javascript", plain: module)
        file.encoded["gzip"] = read("leaflet.esm.min.js") == nil ? nil : read("leaflet.esm.min.js.gz")
        files["leaflet.js"] = file
        var style = File(type: "text/css", plain: sheet)
        style.encoded["gzip"] = read("leaflet.css.gz")
        files["leaflet.css"] = style
        return true
    }
}

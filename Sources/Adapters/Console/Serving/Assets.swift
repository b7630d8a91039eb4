import Crypto
import Encodings
import Foundation
import HTML
import HTTPTypes
import Hummingbird
import NIOCore

/// The files that pages load: the console's own, which are part of the binary, and Leaflet's, which are read at the start.
struct Assets: Sendable {
    private struct File: Sendable {
        let type: String
        /// Empty for what there is encoded alone, as every browser takes it.
        let plain: [UInt8]
        /// By the name of the encoding.
        var encoded: [String: [UInt8]] = [:]
    }

    private let files: [String: File]
    /// A hash of all of them, in the path: what is there under one never changes.
    private let bundle: String
    /// Where Leaflet's module is; nil without its files.
    let leaflet: HTMLLink?
    /// What maps are drawn on in the place of the console's own.
    let tiles: TileSource?

    /// - Parameter folder: with Leaflet's files, of which a fixed list is read.
    init(leaflet folder: String?, tiles: TileSource? = nil) {
        self.tiles = tiles
        var files: [String: File] = [
            "console.css": File(type: "text/css", plain: PackageResources.console_css),
            // One module on every page: what draws a map does nothing where there is none.
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
        self.files = files
        self.bundle = bundle
        leaflet = hasLeaflet ? HTMLLink(to: "assets", bundle, "leaflet.js") : nil
    }

    func link(to name: String) -> HTMLLink { HTMLLink(to: "assets", bundle, name) }

    /// - Throws: ``ConsoleRefusal/notFound``.
    func response(_ parameters: Parameters, acceptEncoding: String?) throws -> Response {
        guard parameters["bundle"].map(String.init) == bundle,
            let file = parameters["name"].flatMap({ files[String($0)] })
        else { throw ConsoleRefusal.notFound }
        var headers: HTTPFields = [
            .contentType: file.type.hasPrefix("text/") ? "\(file.type); charset=utf-8" : file.type,
            .cacheControl: "private, max-age=31536000, immutable",
        ]
        var bytes = file.plain
        if !file.encoded.isEmpty { headers[.vary] = "Accept-Encoding" }
        if let encoded = file.encoded["gzip"], file.plain.isEmpty || acceptEncoding?.contains("gzip") == true
        {
            bytes = encoded
            headers[.contentEncoding] = "gzip"
        }
        return Response(
            status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    /// Debian's package has the files as modules, and compressed beside them.
    /// - Returns: Whether all that is needed was there.
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

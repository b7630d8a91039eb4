extension QRSymbol {
    /// Modules of a side with the quiet zone: the side of the box in which the path is drawn.
    public var outerSize: Int { size + 2 * Self.quietZone }

    /// The dark modules as the `d` of an SVG path, a module being one unit, the quiet zone before them.
    public var path: String {
        var path: [UInt8] = []
        path.reserveCapacity(8 * size * size)
        for y in 0..<size {
            var x = 0
            while x < size {
                // The run of dark modules that begins here, if any does.
                let length = (~(grid.rows[y] >> x)).trailingZeroBitCount
                if length > 0 {
                    path.append(UInt8(ascii: "M"))
                    Self.append(x + Self.quietZone, to: &path)
                    path.append(UInt8(ascii: " "))
                    Self.append(y + Self.quietZone, to: &path)
                    path.append(UInt8(ascii: "h"))
                    Self.append(length, to: &path)
                    path += "v1h-".utf8
                    Self.append(length, to: &path)
                    path.append(UInt8(ascii: "z"))
                }
                x += length + 1
            }
        }
        return String(decoding: path, as: UTF8.self)
    }

    /// - Parameter number: below 100, as all are here.
    private static func append(_ number: Int, to path: inout [UInt8]) {
        if number >= 10 { path.append(UInt8(ascii: "0") + UInt8(number / 10)) }
        path.append(UInt8(ascii: "0") + UInt8(number % 10))
    }

    /// An SVG image: one black path on white, the quiet zone included.
    public var svg: String {
        """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(outerSize) \(outerSize)" shape-rendering="crispEdges">\
        <rect width="\(outerSize)" height="\(outerSize)" fill="#fff"/><path d="\(path)"/></svg>

        """
    }
}

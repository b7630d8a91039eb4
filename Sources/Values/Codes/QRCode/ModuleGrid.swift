/// The modules of a symbol, a bit each, dark ones set: by row and by column, so that penalties look at both alike.
struct ModuleGrid: Sendable, Hashable {
    /// Modules of a side.
    let size: Int
    private(set) var rows: [UInt128]
    private(set) var columns: [UInt128]

    /// All light.
    init(size: Int) {
        self.size = size
        rows = Array(repeating: 0, count: size)
        columns = rows
    }

    /// - Parameters:
    ///   - x: the column, from the left.
    ///   - y: the row, from the top.
    subscript(x: Int, y: Int) -> Bool {
        get { rows[y] >> x & 1 == 1 }
        set {
            let (inRow, inColumn) = (UInt128(1) << x, UInt128(1) << y)
            rows[y] = newValue ? rows[y] | inRow : rows[y] & ~inRow
            columns[x] = newValue ? columns[x] | inColumn : columns[x] & ~inColumn
        }
    }

    /// Inverts the modules of the mask, except reserved ones.
    func masked(by mask: QRMask, sparing reserved: ModuleGrid) -> ModuleGrid {
        var masked = self
        let within = UInt128.max >> (UInt128.bitWidth - size)
        for index in 0..<size {
            masked.rows[index] ^= mask.row(index) & within & ~reserved.rows[index]
            masked.columns[index] ^= mask.column(index) & within & ~reserved.columns[index]
        }
        return masked
    }
}

import Foundation

/// The middle value, or the mean of the two middle ones; nil without values.
func median(_ values: [Double]) -> Double? {
    guard !values.isEmpty else { return nil }
    let sorted = values.sorted()
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/// A figure with three significant digits and no exponent: `4.90`, `0.552`, `12.3`, `1,234`.
func figure(_ value: Double) -> String {
    guard value.isFinite else { return "-" }
    guard value != 0 else { return "0" }
    let digits = max(0, 2 - Int(log10(abs(value)).rounded(.down)))
    let text = String(format: "%.\(min(digits, 6))f", value)
    // Rounding may add a digit: 9.996 is 10.00 with the digits of 9.99.
    if digits > 0, let rounded = Double(text), rounded != 0 {
        let again = max(0, 2 - Int(log10(abs(rounded)).rounded(.down)))
        if again != digits { return grouped(String(format: "%.\(min(again, 6))f", value)) }
    }
    return grouped(text)
}

private func grouped(_ text: String) -> String {
    let parts = text.split(separator: ".", maxSplits: 1)
    let negative = parts[0].hasPrefix("-")
    var digits = Array(parts[0].drop { $0 == "-" })
    for position in stride(from: digits.count - 3, to: 0, by: -3) { digits.insert(",", at: position) }
    let whole = (negative ? "-" : "") + String(digits)
    return parts.count == 2 ? "\(whole).\(parts[1])" : whole
}

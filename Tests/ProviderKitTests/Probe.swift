import ProviderKit
import ProviderTestKit
import Testing
@Test func casts() {
    let c: AnyObject = TestProviderContext()
    #expect(c is any ProviderContext)
}

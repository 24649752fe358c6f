/// The group of the machine whose members may see, start and stop every profile.
public enum ManagerGroup {
    /// Its name; the group need not exist.
    public static let name = "providerhost"
}

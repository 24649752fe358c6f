internal import ProviderKit

/// A worker process together with the manager's end of its channel.
final class RunningWorker {
    let process: any SessionWorker
    let channel: ManagerChannel
    let channelToken: UInt64
    let exitToken: UInt64
    /// Whether the poller watches the channel, and whether for room to write.
    var watchesChannel = true
    var watchesRoom = false
    /// Whether it wants to know of changes of the machine's networks.
    var observesNetworks = false
    /// What it was told last of the machine's networks.
    var knownNetworks: HostNetworks?
    /// What it was told last of the settings in force.
    var knownShortfalls: [SettingsShortfall] = []
    /// Whether the process was killed: only its log counts from then on.
    var isKilled = false

    init(process: any SessionWorker, channel: ManagerChannel, channelToken: UInt64, exitToken: UInt64) {
        self.process = process
        self.channel = channel
        self.channelToken = channelToken
        self.exitToken = exitToken
    }
}

private import Glibc
private import HostRuntime

Service.takeName()
// The worker gives up its privileges before a second thread exists: nothing on the way to it starts one.
exit(
    CommandLineTool.main(
        Array(CommandLine.arguments.dropFirst()), program: CommandLine.arguments.first ?? CommandLineTool.name
    ).rawValue)

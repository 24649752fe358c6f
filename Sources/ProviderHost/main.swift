private import Glibc

let arguments = Array(CommandLine.arguments.dropFirst())
// First of all: a worker gives up its privileges, which must happen before a second thread exists.
if arguments.first == WorkerVerb.command.name { WorkerVerb.enter(arguments) }
exit(CommandLineTool.main(arguments).rawValue)

// Network namespaces with a name, as ip-netns(8) makes them. Every function returns 0 or -errno unless it says otherwise.
#ifndef CTUN_NAMESPACE_H
#define CTUN_NAMESPACE_H

/// Makes a network namespace that the new file `path` stands for, and the folder of such files where it is missing.
/// The calling thread stays where it is. -EEXIST if there is such a file.
int ctun_namespace_make(const char *_Nonnull folder, const char *_Nonnull path);

/// Takes the file away; the namespace lasts as long as something is inside. A file that is not there is fine.
int ctun_namespace_remove(const char *_Nonnull path);

/// Moves the calling thread into the namespace of the file that `descriptor` is of.
/// Returns a descriptor of the namespace that it was in, for ctun_namespace_leave.
int ctun_namespace_enter(int descriptor);

/// Moves the calling thread back and closes `home`. Ends the process where that is impossible: everything that the thread
/// did from then on would be done in the wrong network.
void ctun_namespace_leave(int home);

#endif

#define _GNU_SOURCE
#include "originals.h"
#include "preload.h"

#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>

// Programs that give up rights: they become another user, or forbid themselves system calls.

// MARK: - Users

// Called before the rights are gone.
static void become(uid_t user) {
    const char *directory = preload_directory();
    if (directory != NULL) { fl_admit(directory, user); }
}

EXPORT int setuid(uid_t user) {
    become(user);
    return ORIGINAL(setuid)(user);
}

EXPORT int seteuid(uid_t user) {
    become(user);
    return ORIGINAL(seteuid)(user);
}

EXPORT int setreuid(uid_t real, uid_t effective) {
    become(effective == (uid_t)-1 ? real : effective);
    return ORIGINAL(setreuid)(real, effective);
}

EXPORT int setresuid(uid_t real, uid_t effective, uid_t saved) {
    become(effective == (uid_t)-1 ? real : effective);
    return ORIGINAL(setresuid)(real, effective, saved);
}

// MARK: - System calls

// Programs set PR_SET_NO_NEW_PRIVS before they install a filter, by this function or by libseccomp's, and enter the strict
// mode by it (seccomp(2)).
EXPORT int prctl(int option, ...) {
    unsigned long arguments[4];
    va_list list;
    va_start(list, option);
    for (int index = 0; index < 4; index++) { arguments[index] = va_arg(list, unsigned long); }
    va_end(list);
    if (option == PR_SET_SECCOMP && arguments[0] == SECCOMP_MODE_STRICT) {
        preload_confine(true);
    } else if (option == PR_SET_SECCOMP || (option == PR_SET_NO_NEW_PRIVS && arguments[0] == 1)) {
        preload_confine(false);
    }
    return ORIGINAL(prctl)(option, arguments[0], arguments[1], arguments[2], arguments[3]);
}

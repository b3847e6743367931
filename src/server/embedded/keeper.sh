# The beginning of both keepers. A keeper makes a folder and what runs in it, and when its
# standard input ends, because Lockstep is done or died however, it ends all of it.
#
# It reports on standard output, a line each: `made` once the folder is there, `done` or `started`,
# `restarting`, `failed WHAT`, `ended STATUS`. Other lines are what its commands had to say.

unset LOCKSTEP_KEEPER
folder=$1
umask 077
exec 3<&0 </dev/null 2>&1
child=
reader=
stopping=

# Both signals: a server that has no handlers yet ignores QUIT, since shells start background
# commands that way, and dies of TERM; a server that has them takes QUIT as immediate shutdown.
# One that somebody has stopped (SIGSTOP) takes neither before it goes on.
stop() {
    stopping=yes
    [ -z "$child" ] || { kill -TERM "$child"; kill -QUIT "$child"; kill -CONT "$child"; } 2>/dev/null
}
trap stop HUP INT TERM
trap 'reader=; stop' USR1
# Nobody may listen any more to what is reported.
trap '' PIPE

# From here on the end of standard input is a signal, so that it interrupts `wait`; so is a line,
# which tells a server how to shut down in order to start again.
listen() {
    (
        while read -r line; do
            case $line in
            fast) kill -USR2 $$ ;;
            immediate) kill -ALRM $$ ;;
            esac
        done
        kill -USR1 $$
    ) <&3 >/dev/null 2>&1 &
    reader=$!
}

# Runs a command that `stop` can end.
run() {
    "$@" </dev/null >>"$folder/log" 2>&1 3<&- &
    child=$!
    [ -z "$stopping" ] || stop
    while :; do
        wait "$child"
        status=$?
        # A signal ends `wait` early; then the command is still there.
        kill -0 "$child" 2>/dev/null || break
    done
    child=
    return "$status"
}

# Removes everything, once nobody is left who may want to read the log.
finish() {
    [ -n "$stopping" ] || [ -z "$reader" ] || wait "$reader"
    [ -z "$reader" ] || kill "$reader" 2>/dev/null
    # Server processes that have lost their postmaster (killed, out of memory) may go on for long.
    if [ -d /proc/self/cwd ]; then
        for entry in /proc/[0-9]*; do
            if [ "$entry/cwd" -ef "$folder/data" ]; then
                kill -KILL "${entry#/proc/}"
            fi
        done 2>/dev/null
    fi
    # So may its System V segment: a clean end removes this file.
    if [ -f "$folder/data/postmaster.pid" ]; then
        segment=$(sed -n '7s/.* //p' "$folder/data/postmaster.pid")
        [ -z "$segment" ] || ipcrm -m "$segment" 2>/dev/null
    fi
    tries=0
    until rm -rf "$folder" 2>/dev/null || [ "$tries" -ge 50 ]; do
        tries=$((tries + 1))
        sleep 0.1
    done
    exit 0
}

fail() {
    echo "failed $1"
    finish
}

mkdir "$folder" || exit 1
echo made

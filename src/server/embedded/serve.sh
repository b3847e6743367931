# Arguments: folder, folder of the programs, template, further arguments of the server. Standard input: one line, which says that the
# folder is locked. A further line, `fast` or `immediate`, lets the server shut down that way and
# start again.

again=
restart() {
    again=yes
    [ -z "$child" ] || kill "-$1" "$child" 2>/dev/null
}
trap 'restart INT' USR2
trap 'restart QUIT' ALRM

IFS= read -r _ <&3 || { stopping=yes; finish; }
listen

cp -R "$3" "$folder/data" || fail copy
[ -z "$stopping" ] || finish

programs=$2
shift 3
echo started
while :; do
    run "$programs/postgres" -D "$folder/data" -k "$folder" "$@"
    status=$?
    # One that was killed has left this file: it did not do what it was told to.
    [ -n "$again" ] && [ -z "$stopping" ] && [ ! -e "$folder/data/postmaster.pid" ] || break
    again=
    echo restarting
done
echo "ended $status"
finish

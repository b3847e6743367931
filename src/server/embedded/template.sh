# Arguments: folder, folder of the programs, superuser, text of postgresql.conf, text of pg_hba.conf.
# Standard input: one line of SQL, run once.

IFS= read -r sql <&3 || { stopping=yes; finish; }
listen

init() {
    run "$@" --pgdata "$folder/data" --username "$superuser" --locale C --encoding UTF8 \
        --no-sync --auth reject
}
superuser=$3
as=
if ! init "$2/initdb"; then
    [ -z "$stopping" ] || finish
    # An account without a name, as containers are often given: these two want one, a server does
    # not. In a user namespace the account can go by another's number.
    grep -q 'look up effective user' "$folder/log" || fail initdb
    rm -rf "$folder/data"
    as='unshare --user --map-user=65534'
    init $as "$2/initdb" || fail initdb
fi
[ -z "$stopping" ] || finish

printf '%s' "$4" >"$folder/data/postgresql.conf" || fail settings
printf '%s' "$5" >"$folder/data/pg_hba.conf" || fail settings

printf '%s\n' "$sql" |
    $as "$2/postgres" --single -D "$folder/data" postgres >>"$folder/log" 2>&1 3<&- || fail roles

echo done
finish

# Arguments: folder, folder of the programs, template, further arguments of the server. Standard input: one line, which says that the
# folder is locked.

IFS= read -r _ <&3 || { stopping=yes; finish; }
listen

cp -R "$3" "$folder/data" || fail copy
[ -z "$stopping" ] || finish

programs=$2
shift 3
echo started
run "$programs/postgres" -D "$folder/data" -k "$folder" "$@"
echo "ended $?"
finish

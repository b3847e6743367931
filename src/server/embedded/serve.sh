# Arguments: folder, folder of the programs, template. Standard input: one line, which says that the
# folder is locked.

IFS= read -r _ <&3 || { stopping=yes; finish; }
listen

cp -R "$3" "$folder/data" || fail copy
[ -z "$stopping" ] || finish

echo started
run "$2/postgres" -D "$folder/data" -k "$folder"
echo "ended $?"
finish

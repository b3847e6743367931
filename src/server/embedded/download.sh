# Arguments: folder, program of the package client, its arguments, which name the folder. Standard
# input: one line, which says that the folder was seen. The client puts what it downloads, and all
# else, into the folder.

IFS= read -r _ <&3 || { stopping=yes; finish; }
listen

shift
TMPDIR=$folder
export TMPDIR
run "$@" || fail download

echo done
finish

#!/usr/bin/env bash
# Makes the certificates that the tests of encryption use, with openssl 3. They hold until 2100,
# save the one that is to have ended. The keys shield nothing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

key() {
    openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1"
}

cat >"$work/ca.cnf" <<EOF
[ca]
default_ca = authority
[authority]
database = $work/index
new_certs_dir = $work
rand_serial = yes
default_md = sha256
policy = any
unique_subject = no
[any]
commonName = supplied
[req]
distinguished_name = name
[name]
[authority_extensions]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign
EOF
touch "$work/index"

# authority NAME: an authority that signs itself.
authority() {
    key "$work/$1.key"
    openssl req -new -config "$work/ca.cnf" -key "$work/$1.key" -subj "/CN=$1" -out "$work/$1.csr"
    openssl ca -batch -notext -config "$work/ca.cnf" -selfsign -keyfile "$work/$1.key" \
        -extensions authority_extensions -startdate 20200101000000Z -enddate 21000101000000Z \
        -in "$work/$1.csr" -out "$1.crt"
}

# server NAME ALTERNATIVES END: a certificate that the authority has signed, for server.key.
server() {
    printf 'basicConstraints = CA:FALSE\nsubjectAltName = %s\n' "$2" >"$work/extensions"
    openssl req -new -config "$work/ca.cnf" -key server.key -subj "/CN=$1" -out "$work/$1.csr"
    openssl ca -batch -notext -config "$work/ca.cnf" -cert authority.crt -keyfile "$work/authority.key" \
        -extfile "$work/extensions" -startdate 20200101000000Z -enddate "$3" \
        -in "$work/$1.csr" -out "$1.crt"
}

key server.key
authority authority
authority stranger
server loopback 'DNS:localhost, IP:127.0.0.1' 21000101000000Z
server elsewhere 'DNS:elsewhere.example' 21000101000000Z
server expired 'DNS:localhost, IP:127.0.0.1' 20200102000000Z

module github.com/vault-and-tracker/vault-and-tracker/clients/go

// Debian 12 has this version.
go 1.19

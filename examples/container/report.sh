# A program that does not know about the vault.
echo "DATABASE_PASSWORD has ${#DATABASE_PASSWORD} characters"
echo "the private key is not here: ${VAULT_PRIVATE_KEY_FILE:-true}"

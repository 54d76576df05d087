/** The rules of the demo. */
export const RULES = `# Sharing

- Seed each torrent for **three days**, or until you have uploaded as much as you downloaded.
- Never share your .torrent files or your passkey.

# Uploading

- Only works in the public domain, or under a licence that lets anyone share them.
- Search before you upload. A better transfer of the same work is welcome.
- Keep the name of the release, and describe where it comes from.

# People

- One account per person. You are responsible for those whom you invite.
- Be kind. *Mira* settles disagreements.
`

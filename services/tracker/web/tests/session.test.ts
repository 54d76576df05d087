import { beforeAll, expect, test } from '@jest/globals'
import { freePort } from '@vault-and-tracker/dev-env'
import { totpOf } from '../../src/factors/totp.ts'
import { makeTorrent } from '../../tests/support/make-torrent.ts'
import { startSmtpServer, tokenIn } from '../../tests/support/smtp.ts'
import { PASSWORD } from '../../tests/support/tracker.ts'
import { addTorrent, DESKTOP, NARROW, pressOn, tabTo, typeInto, useSite, type Visit } from './support/site.ts'

const site = useSite()
beforeAll(async () => {
  await site.tracker.signedIn('owner', 'admin')
  await site.tracker.signedIn('alice')
})

async function signIn({ page }: Visit, password = PASSWORD, username = 'alice'): Promise<void> {
  await page.getByLabel('Username').fill(username)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

test('signing in at another address than PUBLIC_URL names the setting; otherwise the requested page follows', async () => {
  const visit = await site.open('/torrents?search=harbour&sort=size', NARROW)
  const { page, problems } = visit
  await page.waitForURL('**/login?next=**')
  await page.getByRole('link', { name: 'Register with an invite' }).waitFor()
  await page.getByText('Forgot your password?').waitFor()

  await signIn(visit, 'not the password')
  await page.getByRole('alert').getByText('wrong').waitFor()
  expect(await problems('login-refused')).toEqual([])

  await page.route('**/api/auth/login', async (route) => {
    // As from a plain http address, for which browsers declare nothing else.
    const sent = Object.entries(await route.request().allHeaders()).filter(([name]) => name !== 'sec-fetch-site')
    const headers = { ...Object.fromEntries(sent), origin: 'http://tracker.lan' }
    await route.fulfill({ response: await route.fetch({ headers }) })
  })
  await signIn(visit)
  await page
    .getByRole('alert')
    .getByText(/PUBLIC_URL/)
    .waitFor()
  await page.unroute('**/api/auth/login')

  await signIn(visit)
  await page.waitForURL('**/torrents?search=harbour&sort=size')
  await page.getByRole('button', { name: 'alice' }).click()
  expect(await problems('account-menu')).toEqual([])
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.waitForURL('**/login')
})

test('a link with the number of a torrent leads to its page, after signing in', async () => {
  const id = await addTorrent(await site.tracker.signedIn('uploader'), 'Numbered.2026.720p.WEB')
  const [row] = await site.tracker.sql<{ number: string }>('select number from torrent_numbers where torrent_id = $1', [
    id,
  ])
  const visit = await site.open(`/torrents/${row?.number ?? ''}`, DESKTOP)
  await signIn(visit)
  await visit.page.waitForURL(`**/torrents/${id}`)
  await visit.page.getByRole('heading', { name: 'Numbered' }).waitFor()
})

test('signing in does not redirect to another site', async () => {
  const visit = await site.open('/login', DESKTOP)
  for (const next of ['https://elsewhere.test/', '//elsewhere.test/', '/\\elsewhere.test/', 'javascript:alert(1)']) {
    await visit.page.goto(`${site.tracker.url}/login?next=${encodeURIComponent(next)}`)
    await signIn(visit)
    await visit.page.waitForURL(`${site.tracker.url}/torrents`)
    await visit.page.getByRole('button', { name: 'alice' }).waitFor()
    await visit.context.clearCookies()
  }
  expect(await visit.problems('login-next')).toEqual([])
})

test('an invited visitor creates an account', async () => {
  const admin = await site.tracker.signedIn('inviting-admin', 'admin')
  const code = (await admin.post('/api/user/invites')).member('code')
  const { page, problems } = await site.open(`/register?invite=${code}`, DESKTOP)
  await page.getByLabel('Username').waitFor()
  // The link has the code.
  await page.keyboard.type('alice')
  await page.getByLabel('Email').fill('carol@example.org')
  await page.getByLabel('Password').fill('long enough to guess')
  expect(await page.getByLabel('Invite code').inputValue()).toBe(code)
  await page.getByRole('button', { name: 'Create account' }).click()
  const named = page.locator('.field', { has: page.getByLabel('Username') })
  await named.locator('.field-problem').waitFor()
  expect(await page.evaluate('document.activeElement.name')).toBe('username')
  expect(await problems('register-refused')).toEqual([])
  await page.getByLabel('Invite code').fill('a-wrong-code')
  await page.getByLabel('Username').fill('carol')
  await page.getByRole('button', { name: 'Create account' }).click()
  await page
    .locator('.field', { has: page.getByLabel('Invite code') })
    .locator('.field-problem')
    .waitFor()
  await page.getByLabel('Invite code').fill(code)

  await page.getByLabel('Username').fill('carol')
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.waitForURL('**/welcome')
  await page.getByRole('heading', { name: 'Welcome to Tracker, carol' }).waitFor()
  await page.getByText('nothing downloaded').waitFor()
  await page.getByText('Seed each completed torrent for 3 d').waitFor()
  expect(await problems('welcome')).toEqual([])

  await admin.post('/api/admin/rules', { text: 'Seed what you download.', replaces: 0 })
  await page.goto(`${site.tracker.url}/torrents`)
  await page.getByText('Please read and accept').waitFor()
  await page.getByRole('link', { name: 'rules of this site' }).press('Enter')
  await page.getByText('Seed what you download.').waitFor()
  expect(await problems('rules')).toEqual([])
  await page.getByRole('button', { name: 'Accept rules' }).press('Enter')
  await page.getByText('You accepted this version').waitFor()
  await page.getByRole('link', { name: 'Torrents', exact: true }).click()
  await page.getByLabel('Search torrents').waitFor()
  expect(await page.getByText('Please read and accept').count()).toBe(0)
})

test('an open site lets visitors register until it is closed, and its name is shown on pages and in Torznab', async () => {
  const named = await site.another({ REGISTRATION: 'open', SITE_NAME: 'Films & Friends' })
  const { page } = await named.open('/login', DESKTOP)
  await page.locator('.brand', { hasText: 'Films & Friends' }).waitFor()
  expect(await page.title()).toBe('Sign in · Films & Friends')
  await page.getByRole('link', { name: 'Create an account' }).click()
  await page.getByLabel('Email').waitFor()
  expect(await page.getByLabel('Invite code').count()).toBe(0)
  const admin = await named.tracker.signedIn('nora', 'admin')
  const key = (await admin.get('/api/user/me')).member('passkey')
  const caps = await fetch(`${named.tracker.url}/api/torznab?t=caps&apikey=${key}`)
  expect(await caps.text()).toContain('title="Films &amp; Friends"')

  await admin.patch('/api/admin/site', { registration: 'closed' })
  await page.goto(`${named.tracker.url}/register`)
  await page.getByText('Registration is closed.').waitFor()
})

test('the code in the log creates the first administrator, who comes to a checklist that follows what they do', async () => {
  const fresh = await site.another({})
  await fresh.tracker.signedIn('bob')
  const code = (await fresh.tracker.context.useCases.firstAdministrator.issueCode()) ?? ''
  const { page, problems } = await fresh.open('/login', NARROW)
  await page.getByText('no administrator yet').waitFor()
  await page.getByRole('link', { name: 'Set it up' }).press('Enter')
  await page.waitForURL('**/setup')
  await page.getByLabel('Setup code').waitFor()
  await page.keyboard.type('a wrong code')
  await page.getByLabel('Username').fill('bob')
  await page.getByLabel('Email').fill('alice@example.org')
  await page.getByLabel('Password').fill(PASSWORD)
  await page.keyboard.press('Enter')
  const coded = page.locator('.field', { has: page.getByLabel('Setup code') })
  await coded.locator('.field-problem').waitFor()
  expect(await page.evaluate('document.activeElement.name')).toBe('code')
  expect(await problems('setup-refused')).toEqual([])
  await page.getByLabel('Setup code').fill(code)
  await page.keyboard.press('Enter')
  const named = page.locator('.field', { has: page.getByLabel('Username') })
  await named.locator('.field-problem').waitFor()
  await page.getByLabel('Username').fill('alice')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/admin')
  const checklist = page.getByRole('region', { name: 'Set up your site' })
  await checklist.getByText('1 of 5 done').waitFor()
  expect(await problems('checklist')).toEqual([])
  await checklist.getByRole('link', { name: 'Publish the rules' }).press('Enter')
  await page.getByRole('button', { name: 'Publish rules' }).click()
  await page.getByText('Version 1', { exact: true }).waitFor()
  expect(await problems('admin-rules')).toEqual([])
  await page.getByRole('button', { name: 'Show version 1' }).click()
  await page.getByRole('dialog').getByText('Be kind').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('link', { name: 'Overview' }).click()
  await checklist.getByText('2 of 5 done').waitFor()
  await checklist.getByRole('button', { name: 'Hide checklist' }).press('Enter')
  await checklist.waitFor({ state: 'detached' })
  const admin = fresh.tracker.client()
  await admin.post('/api/auth/login', { username: 'alice', password: PASSWORD })
  expect((await admin.get('/api/admin/checklist')).json).toMatchObject({ dismissed: true, rules: true })

  await page.goto(`${fresh.tracker.url}/setup`)
  await page.getByText('already set up').waitFor()
  expect(await problems('setup-closed')).toEqual([])
  await page.getByRole('link', { name: 'Sign in instead' }).click()
  await page.getByLabel('Username').waitFor()
  expect(await page.getByText('no administrator yet').count()).toBe(0)
})

test('the first page takes two requests of data', async () => {
  const { page, context } = await site.open('/login', DESKTOP)
  // The requests of this page are not counted.
  await page.waitForLoadState('networkidle')
  await context.addCookies([
    {
      name: 'session',
      value: (await site.tracker.signedIn('counted')).cookie ?? '',
      url: site.tracker.url,
      httpOnly: true,
    },
  ])
  const sent: string[] = []
  page.on('request', (request) => {
    const { pathname } = new URL(request.url())
    if (pathname.startsWith('/api/')) sent.push(pathname)
  })
  await page.goto(`${site.tracker.url}/torrents`, { waitUntil: 'networkidle' })
  await page.getByRole('button', { name: 'counted' }).waitFor()
  expect(sent.toSorted()).toEqual(['/api/start', '/api/torrents'])
})

async function signInAgain({ page }: Visit): Promise<void> {
  const dialog = page.getByRole('dialog', { name: 'Your session has ended' })
  await dialog.getByLabel('Password').fill(PASSWORD)
  await dialog.getByRole('button', { name: 'Sign in' }).click()
  await dialog.waitFor({ state: 'detached' })
}

test('after signing in again over a page, forms have what was typed and can be sent, and pages load', async () => {
  const member = await site.tracker.signedIn('dora')
  const name = 'Distant.Shores.2023.1080p'
  await addTorrent(member, name)
  const visit = await site.open('/me', DESKTOP, member)
  const { page, context, problems } = visit
  await page.getByRole('checkbox').waitFor()
  await context.clearCookies()
  await page.getByRole('checkbox').click()
  await page.getByRole('heading', { name: 'Your session has ended' }).waitFor()
  expect(await page.getByLabel('Username').inputValue()).toBe('dora')
  expect(await problems('session-ended')).toEqual([])
  await signInAgain(visit)
  await page.getByRole('checkbox').click()
  await page.getByText('Saved.').waitFor()
  const [{ statsPublic } = { statsPublic: true }] = await site.tracker.sql<{ statsPublic: boolean }>(
    `select stats_public as "statsPublic" from users where username = 'dora'`,
  )
  expect(statsPublic).toBe(false)

  await page.getByRole('link', { name: 'Torrents', exact: true }).click()
  const link = page.getByRole('link', { name, exact: true })
  await link.waitFor()
  await context.clearCookies()
  await link.click()
  await signInAgain(visit)
  await page.getByRole('heading', { name }).waitFor()
  expect(new URL(page.url()).pathname).toMatch(/^\/torrents\/./)

  // A request in the background finds the end, too.
  await page.getByRole('link', { name: 'Upload', exact: true }).click()
  await page.getByLabel('Choose a .torrent file').setInputFiles({
    name: 'typed.torrent',
    mimeType: 'application/x-bittorrent',
    buffer: makeTorrent('Paper.Moons.2024.1080p'),
  })
  await page.getByLabel('Description').fill('Recorded at home.')
  await context.clearCookies()
  await page.getByLabel('Name').fill('Another.Harbour.2025.1080p')
  await page.getByRole('heading', { name: 'Your session has ended' }).waitFor()
  await signInAgain(visit)
  await page.getByRole('heading', { name: 'Another Harbour' }).waitFor()
  expect(await page.getByLabel('Description').inputValue()).toBe('Recorded at home.')
  expect(await page.getByText('Could not load this').count()).toBe(0)
})

/** A site at a host name, because an IP address can have no security keys. */
async function siteWithName(env: Readonly<Record<string, string>> = {}) {
  const port = String(await freePort())
  const origin = `http://localhost:${port}`
  const named = await site.another({ PORT: port, PUBLIC_URL: origin, ...env })
  return { named, origin }
}

/** Gives the page's browser an authenticator that confirms everything. */
async function addAuthenticator({ page, context }: Visit): Promise<void> {
  const devtools = await context.newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal' },
      ...{ hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
    },
  })
}

function appWith(secret: string): { code(stepsAhead?: number): string } {
  const letters = Array.from(secret, (letter) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter))
  const bits = letters.map((value) => value.toString(2).padStart(5, '0')).join('')
  const bytes = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
  return { code: (stepsAhead = 0) => totpOf(bytes, Math.floor(site.tracker.now() / 30_000) + stepsAhead) }
}

test('a member adds an app by keyboard, and signs in with a code, then with a recovery code', async () => {
  const member = await site.tracker.signedIn('careful')
  const visit = await site.open('/me?tab=security', DESKTOP, member)
  const { page, problems } = visit
  await page.getByText('No second factor.').waitFor()
  expect(await page.getByRole('button', { name: 'Add security key' }).count()).toBe(0)
  const open = page.getByRole('button', { name: 'Add authenticator app' })
  await open.press('Enter')
  await page.getByRole('dialog').getByText('six-digit codes').waitFor()
  await page.keyboard.type('not the password')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').getByText('password is wrong').waitFor()
  await page.getByLabel('Your password').fill(PASSWORD)
  await page.keyboard.press('Enter')
  await page.getByRole('img', { name: 'QR code' }).waitFor()
  expect(await problems('me-security-app')).toEqual([])
  const app = appWith((await page.getByRole('dialog').locator('code').textContent()) ?? '')
  await page.keyboard.type('000000')
  await page.keyboard.press('Enter')
  await page.locator('.field-problem').waitFor()
  await page.getByRole('textbox', { name: 'Code' }).fill(app.code())
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Your recovery codes' }).waitFor()
  expect(await problems('me-security-codes')).toEqual([])
  await page.getByRole('button', { name: 'Copy recovery codes' }).press('Enter')
  const copied = await page.evaluate<string>('navigator.clipboard.readText()')
  const [recoveryCode = ''] = copied.split('\n')
  expect(copied.split('\n')).toHaveLength(10)
  await page.getByRole('button', { name: 'Done' }).press('Enter')
  await page.getByText('10 recovery codes left.').waitFor()
  expect(await problems('me-security-factors')).toEqual([])

  const visitor = await site.open('/login?next=%2Fme', NARROW)
  await signIn(visitor, PASSWORD, 'careful')
  const code = visitor.page.getByRole('textbox', { name: 'Code' })
  await code.waitFor()
  expect(await visitor.problems('login-code')).toEqual([])
  await visitor.page.keyboard.type('000000')
  await visitor.page.keyboard.press('Enter')
  await visitor.page.getByRole('alert').getByText('wrong').waitFor()
  site.tracker.advance(30_000)
  await code.fill(app.code())
  await visitor.page.keyboard.press('Enter')
  await visitor.page.waitForURL('**/me')

  await visitor.context.clearCookies()
  await visitor.page.goto(`${site.tracker.url}/login`)
  await signIn(visitor, PASSWORD, 'careful')
  await code.fill(recoveryCode)
  await visitor.page.keyboard.press('Enter')
  await visitor.page.waitForURL('**/torrents')
})

test('a member adds a security key by keyboard, signs in with it, again over a page, and removes it', async () => {
  const { named, origin } = await siteWithName()
  await named.tracker.signedIn('keyed')
  const visit = await named.open('/login?next=%2Fme%3Ftab%3Dsecurity', DESKTOP, undefined, origin)
  const { page, context, problems } = visit
  await addAuthenticator(visit)
  await signIn(visit, PASSWORD, 'keyed')
  await pressOn(page.getByRole('button', { name: 'Add security key' }), 'Enter')
  await typeInto(page.getByLabel('Name'), 'Laptop')
  await typeInto(page.getByLabel('Your password'), PASSWORD)
  expect(await problems('me-security-key')).toEqual([])
  await pressOn(page.getByRole('dialog').getByRole('button', { name: 'Add security key' }), 'Enter')
  await page.getByRole('heading', { name: 'Your recovery codes' }).waitFor()
  await pressOn(page.getByRole('button', { name: 'Close' }), 'Enter')
  await page.getByText('You have not saved the codes.').waitFor()
  await pressOn(page.getByRole('button', { name: 'Close without saving' }), 'Enter')
  await page.getByText('10 recovery codes left.').waitFor()

  await pressOn(page.getByRole('button', { name: 'Add security key' }), 'Enter')
  await typeInto(page.getByLabel('Your password'), PASSWORD)
  await pressOn(page.getByRole('dialog').getByRole('button', { name: 'Add security key' }), 'Enter')
  await page.getByRole('alert').getByText('already').waitFor()
  await pressOn(page.getByRole('button', { name: 'Cancel' }), 'Enter')

  await pressOn(page.getByRole('button', { name: 'keyed' }), 'Enter')
  await pressOn(page.getByRole('button', { name: 'Sign out' }), 'Enter')
  await page.waitForURL('**/login')
  await signIn(visit, PASSWORD, 'keyed')
  await page.getByRole('button', { name: 'Use security key' }).waitFor()
  expect(await problems('login-security-key')).toEqual([])
  await pressOn(page.getByRole('button', { name: 'Start again' }), 'Enter')
  await signIn(visit, PASSWORD, 'keyed')
  await pressOn(page.getByRole('button', { name: 'Use security key' }), 'Enter')
  await page.waitForURL('**/torrents')

  await page.goto(`${origin}/me?tab=security`)
  await page.getByRole('button', { name: 'Remove Laptop' }).waitFor()
  await tabTo(page.getByRole('button', { name: 'Remove Laptop' }))
  await context.clearCookies()
  await page.keyboard.press('Enter')
  const remove = page.getByRole('dialog', { name: 'Remove Laptop?' })
  await typeInto(remove.getByLabel('Your password'), PASSWORD)
  await pressOn(remove.getByRole('button', { name: 'Remove second factor' }), 'Enter')
  const ended = page.getByRole('dialog', { name: 'Your session has ended' })
  await typeInto(ended.getByLabel('Password'), PASSWORD)
  await pressOn(ended.getByRole('button', { name: 'Sign in' }), 'Enter')
  await pressOn(ended.getByRole('button', { name: 'Use security key' }), 'Enter')
  await ended.waitFor({ state: 'detached' })
  await pressOn(remove.getByRole('button', { name: 'Remove second factor' }), 'Enter')
  await page.getByText('No second factor.').waitFor()
})

test('staff who need a second factor are led to the page that adds one, and continue then', async () => {
  const strict = await site.another({ STAFF_SECOND_FACTOR: 'true' })
  const moderator = await strict.tracker.signedIn('new-moderator', 'moderator')
  const { page, problems } = await strict.open('/admin/moderation', DESKTOP, moderator)
  await page.waitForURL('**/me?tab=security')
  await page.getByText('Staff of this site need a second factor.').waitFor()
  expect(await problems('me-security-required')).toEqual([])
  await page.getByRole('link', { name: 'Upload', exact: true }).click()
  await page.waitForURL('**/me?tab=security')
  await page.getByRole('button', { name: 'Add authenticator app' }).click()
  await page.getByLabel('Your password').fill(PASSWORD)
  await page.keyboard.press('Enter')
  await page.getByRole('img', { name: 'QR code' }).waitFor()
  const secret = (await page.getByRole('dialog').locator('code').textContent()) ?? ''
  await page.getByRole('textbox', { name: 'Code' }).fill(appWith(secret).code())
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Download' }).click()
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('link', { name: 'Torrents', exact: true }).click()
  await page.waitForURL('**/torrents')
  await page.getByRole('heading', { name: 'No torrents' }).or(page.getByText('No torrents')).first().waitFor()
})

test('a member sets a new password and confirms a new address with links sent by email', async () => {
  const smtp = await startSmtpServer()
  const mailing = await site.another({ SMTP_URL: smtp.url })
  try {
    const member = await mailing.tracker.signedIn('forgetful')
    const visit = await mailing.open('/login', NARROW)
    const { page, problems } = visit
    await page.getByRole('link', { name: 'Forgot your password?' }).press('Enter')
    await page.waitForURL('**/reset')
    expect(await problems('reset-request')).toEqual([])
    await page.keyboard.type('forgetful@example.org')
    await page.keyboard.press('Enter')
    await page.getByText('If an account has this address').waitFor()
    const token = tokenIn(await smtp.next('forgetful@example.org'))
    const requested: string[] = []
    page.on('request', (request) => requested.push(request.url(), request.headers()['referer'] ?? ''))
    await page.goto('about:blank')
    await page.goto(`${mailing.tracker.url}/reset#${token}`)
    await page.getByLabel('New password', { exact: true }).waitFor()
    expect(page.url()).toBe(`${mailing.tracker.url}/reset`)
    expect(await problems('reset-password')).toEqual([])
    await page.getByLabel('New password', { exact: true }).fill('remembered this time')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/login')
    expect(requested.filter((text) => text.includes(token))).toEqual([])
    await signIn(visit, 'remembered this time', 'forgetful')
    await page.waitForURL('**/torrents')
    expect((await member.get('/api/user/me')).status).toBe(401)

    await page.goto(`${mailing.tracker.url}/me?tab=security`)
    await page.getByLabel('New email address').fill('elsewhere@example.org')
    await page.getByLabel('Your password').fill('remembered this time')
    await page.getByRole('button', { name: 'Change email address' }).click()
    await page.getByText('Open the link sent to').waitFor()
    expect(await problems('me-email')).toEqual([])
    await page.goto(`${mailing.tracker.url}/confirm-email#${tokenIn(await smtp.next('elsewhere@example.org'))}`)
    await page.getByRole('button', { name: 'Confirm address' }).waitFor()
    expect(await problems('confirm-email')).toEqual([])
    await page.getByRole('button', { name: 'Confirm address' }).click()
    await page.getByText('· elsewhere@example.org').waitFor()

    await page.goto(`${mailing.tracker.url}/notices?tab=settings`)
    const byMail = page.getByRole('group', { name: 'Also email me' })
    await byMail.getByLabel('One of my torrents is approved').click()
    await page.getByText('Saved.').waitFor()
    expect(await problems('notices-by-email')).toEqual([])
  } finally {
    await smtp.stop()
  }
})

import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { admin, createProject, newKey } from '../../tests/support/client.ts'
import {
  ADMIN_TOKEN,
  DESKTOP,
  fillVault,
  NARROW,
  signIn,
  stored,
  useConsole,
  useVault,
  VALUE,
} from './support/console.ts'

const site = useConsole()

test('without projects, the overview names the next step', async () => {
  const { page } = await site.open('', DESKTOP, ADMIN_TOKEN)
  await page.getByText('No projects yet.').waitFor()
  await fillVault(site.vault)
  await useVault(site.vault)
  await site.vault.seal()
})

test('an administrator signs in with a token once for all tabs and reloads, until they sign out', async () => {
  const visit = await site.open('/projects/shop?tab=secrets', NARROW)
  const { page, problems, sent } = visit
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect(sent.map(({ url }) => url).filter((url) => url.includes('/v1/'))).toEqual([`${site.vault.url}/v1/sign-in`])
  for (const wrong of ['a-wrong-token', 'no token ✗']) {
    await page.getByLabel('Admin token').fill(wrong)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('This is not a valid admin token').waitFor()
  }
  expect(await problems('sign-in-refused')).toEqual([])
  // What password managers look for.
  const hints = `Array.from(document.querySelectorAll('form input'), ({ autocomplete }) => autocomplete)`
  expect(await page.evaluate(hints)).toEqual(['username', 'current-password'])
  await signIn(visit, ADMIN_TOKEN)
  await page.getByRole('cell', { name: 'staging' }).first().waitFor()
  expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe('/console/projects/shop?tab=secrets')
  expect(await stored(visit)).toBe('[{},{}][]')
  const [cookie] = await visit.context.cookies()
  expect(cookie).toMatchObject({ name: 'vault-session', httpOnly: true, sameSite: 'Strict' })
  await page.reload()
  await page.getByRole('cell', { name: 'staging' }).first().waitFor()
  const other = await visit.context.newPage()
  await other.goto(`${site.vault.url}/console/projects`)
  await other.getByRole('link', { name: 'newsletter' }).waitFor()
  // The token left the page in one request.
  expect(sent.filter(({ text }) => text.includes(ADMIN_TOKEN))).toHaveLength(1)
  expect(sent.filter(({ url }) => url.includes(ADMIN_TOKEN))).toEqual([])
  await page.getByRole('button', { name: 'Admin token' }).click()
  await page.getByRole('button', { name: 'Sign out' }).click()
  for (const each of [page, other]) await each.getByRole('heading', { name: 'Sign in' }).waitFor()
  await page.reload()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect(await visit.context.cookies()).toEqual([])
})

test('if the keys cannot be read, no project is shown as having no keys', async () => {
  const visit = await site.open('/projects', DESKTOP)
  let isAway = true
  await visit.page.route('**/v1/admin/keys', (route) =>
    isAway ? route.fulfill({ status: 503, json: { error: 'unavailable', message: 'Postgres.' } }) : route.continue(),
  )
  await signIn(visit, ADMIN_TOKEN)
  await visit.page.getByRole('button', { name: 'Try again' }).waitFor()
  expect(await visit.page.getByText('No active key').count()).toBe(0)
  isAway = false
  await visit.page.getByRole('button', { name: 'Try again' }).click()
  await visit.page.getByRole('link', { name: 'billing-service' }).waitFor()
})

test('the console stores only the chosen theme', async () => {
  const visit = await site.open('', DESKTOP, ADMIN_TOKEN)
  await visit.page.getByRole('button', { name: 'Admin token' }).click()
  await visit.page.getByRole('button', { name: 'Theme: system' }).click()
  expect(await visit.problems('account-menu')).toEqual([])
  expect(await stored(visit)).toBe('[{"theme":"light"},{}][]')
  await visit.page.evaluate('localStorage.removeItem("theme")')
})

test('when the token is revoked, the page asks for another one and continues', async () => {
  const token = await site.tokenOf({ name: 'Grace', role: 'administrator' })
  const visit = await site.open('/projects', DESKTOP, token)
  const { page } = visit
  await page.getByRole('link', { name: 'newsletter' }).waitFor()
  const [grace] = (await admin(site.vault.url, 'GET', '/administrators')).body as { id: string }[]
  await admin(site.vault.url, 'DELETE', `/administrators/${grace?.id ?? ''}`)
  await page.getByRole('link', { name: 'newsletter' }).click()
  await page.getByText('Your session has ended.').waitFor()
  await signIn(visit, ADMIN_TOKEN)
  await page.getByRole('heading', { name: 'newsletter' }).waitFor()
})

test('a tab does not act as the administrator who signed in in another tab', async () => {
  const visit = await site.open('/projects', DESKTOP, await site.tokenOf({ name: 'Greta', role: 'administrator' }))
  const { page, context, problems } = visit
  await page.getByRole('button', { name: 'Greta' }).waitFor()
  const other = await context.newPage()
  await context.clearCookies()
  await other.goto(`${site.vault.url}/console/projects`)
  await signIn({ ...visit, page: other }, ADMIN_TOKEN)
  await page.getByText('Another administrator has signed in').waitFor()
  expect(await problems('other-administrator')).toEqual([])
  await page.reload()
  await page.getByRole('button', { name: 'Admin token' }).waitFor()
})

test('the overview shows numbers, expiring keys, and requests over time', async () => {
  await site.vault.seal()
  const { page, problems } = await site.open('', DESKTOP, ADMIN_TOKEN)
  await page.getByText('1 without an active key').waitFor()
  await page.getByText(/^Sealed/).waitFor()
  await page.getByText(/^expires in \d:\d\d$/).waitFor()
  await page.locator('canvas').waitFor()
  expect(await problems('overview')).toEqual([])
  await page.getByRole('link', { name: '7 days' }).click()
  await page.waitForURL(/range=7d$/)
  await page.getByText('Values').click()
  const values = page.getByRole('region', { name: 'Values of Requests' })
  await values.getByRole('row').nth(168).waitFor()
  await page.getByRole('link', { name: 'Refused requests' }).click()
  await page.waitForURL(/audit\?action=refused$/)
})

test('projects are listed with their keys and found by a part of their name', async () => {
  const { page } = await site.open('/projects', DESKTOP, ADMIN_TOKEN)
  await page.getByText('5 projects').waitFor()
  await page.getByText('No active key').waitFor()
  await page.getByText(/^expires in \d:\d\d$/).waitFor()
  await page.getByRole('searchbox').fill('BILL')
  await page.getByText('1 project', { exact: true }).waitFor()
  await page.getByRole('searchbox').fill('nothing')
  await page.getByText('No matching projects.').waitFor()
  await page.getByRole('link', { name: 'All projects' }).click()
  await page.getByRole('link', { name: 'warehouse.api' }).click()
  await page.getByText('replaced', { exact: true }).waitFor()
  await page.getByText(/^expires in \d:\d\d$/).waitFor()
})

test('secrets are listed by environment with their versions, never with a value', async () => {
  const { page, problems } = await site.open('/projects/shop?tab=secrets', DESKTOP, ADMIN_TOKEN)
  const answers: Promise<string>[] = []
  page.on('response', (response) => {
    if (response.url().includes('/v1/')) answers.push(response.text())
  })
  await page.getByText('5 secrets').waitFor()
  expect(await problems('secrets')).toEqual([])
  await page.getByLabel('Environment').selectOption('production')
  await page.getByText('3 secrets').waitFor()
  await page.getByRole('button', { name: 'Versions of DATABASE_URL in production' }).click()
  await page.getByText('Version 2').waitFor()
  expect(await problems('versions')).toEqual([])
  await page.getByRole('button', { name: 'Close' }).click()
  await page.getByRole('link', { name: 'Requests' }).click()
  await page.locator('canvas').waitFor()
  expect(await problems('project-requests')).toEqual([])
  expect((await Promise.all(answers)).join()).not.toContain(VALUE)
  expect(await page.content()).not.toContain(VALUE)
})

test('the audit log is verified, filtered, and paged', async () => {
  const { page, problems } = await site.open('/audit', DESKTOP, ADMIN_TOKEN)
  await page.getByText('✓ Intact.').waitFor()
  await page.getByRole('cell', { name: 'fetched secrets' }).first().waitFor()
  expect(await problems('audit')).toEqual([])
  await page.getByRole('link', { name: 'Older' }).click()
  await page.waitForURL('**/audit?before=*')
  await page.getByRole('link', { name: 'Newest' }).click()
  await page.getByLabel('Action').selectOption('registered a project')
  await page.getByText('publicKey').first().waitFor()
  await page.getByLabel('Project').selectOption('newsletter')
  await page.waitForURL('**project=newsletter*')
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export JSON' }).click(),
  ])
  expect(JSON.parse(readFileSync(await download.path(), 'utf8'))).toMatchObject([
    { action: 'project.create', projectId: 'newsletter', actor: 'administrator' },
  ])
  await page.getByRole('link', { name: 'admin token' }).click()
  await page.getByText('Showing one requester only.').waitFor()
  await page.getByLabel('Action').selectOption('rotated a data key')
  await page.getByText('No matching entries.').waitFor()
  await page.getByRole('link', { name: 'Clear filters' }).click()
  await page.getByRole('cell', { name: 'fetched secrets' }).first().waitFor()
  expect(await page.getByRole('cell', { name: 'read as administrator' }).count()).toBe(0)
  await page.getByLabel('Action').selectOption('All actions with reads')
  await page.getByRole('cell', { name: 'read as administrator' }).first().waitFor()
  await page.getByRole('searchbox', { name: 'Secret' }).fill('DATABASE_URL')
  await page.waitForURL('**key=DATABASE_URL*')
  await page.getByLabel('Action').selectOption('wrote a secret')
  await page.getByRole('searchbox', { name: 'Key name' }).fill('default')
  await page.getByRole('searchbox', { name: 'Environment' }).fill('production')
  await page.waitForURL(/keyName=default.*env=production|env=production.*keyName=default/)
  await page.getByRole('cell', { name: 'wrote a secret' }).first().waitFor()
  await page.getByLabel('To', { exact: true }).fill('2001-01-01')
  await page.getByText('No matching entries.').waitFor()
})

test('the longest project name fits into lists and menus', async () => {
  const name = 'project-'.padEnd(63, 'm')
  await createProject(site.vault.url, name)
  const visit = await site.open(`/audit?project=${name}&action=project.create`, DESKTOP, ADMIN_TOKEN)
  const { page, problems } = visit
  await page.getByText('publicKey').waitFor()
  expect(await problems('audit-long-name')).toEqual([])
  await page.getByRole('link', { name: 'Projects' }).click()
  await page.getByRole('link', { name }).waitFor()
  expect(await problems('projects-long-name')).toEqual([])
  await page.getByRole('link', { name }).click()
  await page.getByText('1 active key', { exact: true }).waitFor()
  await admin(site.vault.url, 'POST', `/projects/${name}/keys`, { name: 'k'.repeat(64) })
  await page.reload()
  await page.getByText('2 active keys').waitFor()
  expect(await problems('key-long-name')).toEqual([])
  await page.getByRole('button', { name: /^Rotate kkk/ }).click()
  expect(await problems('rotate-long-name')).toEqual([])
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate key' }).click()
  await page.getByRole('button', { name: /^Save / }).waitFor()
  expect(await problems('private-key-long-name')).toEqual([])
  await admin(site.vault.url, 'DELETE', `/projects/${name}`)
})

test('fetches and rotations show who did them', async () => {
  const name = 'Rosa'
  const token = await site.tokenOf({ name, role: 'administrator' })
  const auditor = await site.tokenOf({ name: `${name}, auditor`, role: 'auditor', projects: ['ended'] })
  const { publicKeyHex } = newKey()
  await fetch(`${site.vault.url}/v1/admin/projects/ended/rotate`, {
    method: 'PUT',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ publicKey: publicKeyHex }),
  })
  const { page } = await site.open('/audit', DESKTOP, ADMIN_TOKEN)
  await page
    .getByText(/^key default [0-9a-f]{12}…$/)
    .first()
    .waitFor()
  await page.getByText(name, { exact: true }).waitFor()
  const unnamed = await site.open('/audit?project=ended', DESKTOP, auditor)
  await unnamed.page.getByText('an administrator', { exact: true }).first().waitFor()
  expect(await unnamed.page.getByText('a removed administrator').count()).toBe(0)
})

test('a log that was changed is shown as broken', async () => {
  const [row] = await site.vault.sql<{ seq: string }>('select max(position) as seq from audit_seals')
  await site.vault.sql(`update audit set env = 'other' where seq = $1`, [row?.seq])
  const { page, problems } = await site.open('/audit', DESKTOP, ADMIN_TOKEN)
  await page.getByText('✗ Broken:').waitFor()
  await page.getByText(`row ${row?.seq ?? ''}`).waitFor()
  expect(await problems('audit-broken')).toEqual([])
})

test('an auditor of one project sees only that project and no actions', async () => {
  const token = await site.tokenOf({ name: 'Ada', role: 'auditor', projects: ['shop'] })
  const { page } = await site.open('', DESKTOP, token)
  await page.getByText('all with an active key').waitFor()
  expect(await page.getByRole('link', { name: 'Administrators' }).count()).toBe(0)
  await page.getByRole('link', { name: 'Projects' }).first().click()
  await page.getByText('1 project', { exact: true }).waitFor()
  expect(await page.getByRole('button', { name: 'Register' }).count()).toBe(0)
  await page.getByRole('link', { name: 'shop' }).click()
  await page.getByText('1 active key', { exact: true }).waitFor()
  expect(await page.getByRole('button', { name: /Add|Rotate|Revoke|Delete|digest/ }).count()).toBe(0)
  await page.getByRole('link', { name: 'Secrets' }).click()
  await page.getByRole('button', { name: /Versions of DATABASE_URL in production/ }).click()
  await page.getByText('Version 1').waitFor()
  expect(await page.getByRole('button', { name: /Restore|Delete/ }).count()).toBe(0)
})

test('unknown addresses show a page that says so', async () => {
  const { page, problems } = await site.open('/projects/nobody', DESKTOP, ADMIN_TOKEN)
  await page.getByText('Page not found').waitFor()
  await page.goto(`${site.vault.url}/console/no/such/page`)
  await page.getByText('Page not found').waitFor()
  expect(await problems('not-found')).toEqual([])
})

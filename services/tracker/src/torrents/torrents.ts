import type { Clock } from '@vault-and-tracker/service-kit/core/clock'
import { createTurns } from '@vault-and-tracker/service-kit/core/concurrency'
import { isId, newId } from '@vault-and-tracker/service-kit/core/ids'
import type { Account } from '../accounts/accounts.ts'
import { type ActedBy, actedBy } from '../admin-log/admin-log.ts'
import type { Categories } from '../categories/categories.ts'
import { apiError } from '../errors.ts'
import type { PublishInvalidation } from '../invalidation/invalidation.ts'
import type { KnownRelease, Relation } from '../releases/related-releases.ts'
import { parseReleaseName } from '../releases/release-name.ts'
import { type NameFields, nameFieldsOf } from '../releases/search-words.ts'
import type { ExternalIds, ListedTorrent, TorrentState } from '../search/listed-torrent.ts'
import type { SiteConfiguration } from '../site-settings/site-settings.ts'
import type { AnnounceKeys } from '../tokens/announce-keys.ts'
import { type TorrentContent, type TorrentFile, type TorrentFileReader, writeTorrentFile } from './torrent-file.ts'

/** Announces of a deleted torrent receive the reason for this long. */
const DELETED_KEPT_MS = 30 * 24 * 3_600_000

/** Building a file of 10 MiB blocks the event loop for about 50 ms, so several at once would block it for seconds. */
const FILES_AT_ONCE = 2

/** A torrent with what lists leave out. */
export type Torrent = ListedTorrent & {
  readonly description: string
  readonly hasNfo: boolean
  readonly hasMediaInfo: boolean
  /** Why it was uploaded although it is a duplicate. For staff and the uploader. */
  readonly duplicateReason: string | null
}

/** Another torrent of the same title. */
export type RelatedTorrent = { readonly relation: Relation; readonly torrent: ListedTorrent }

/** Texts that describe the files. */
export type TorrentTexts = { readonly nfo: string | null; readonly mediaInfo: string | null }

/** What its uploader says about a release. Only staff can set `internal`. */
type Marks = Pick<ListedTorrent, 'anonymous' | 'internal' | 'scene'>

export type NewTorrent = NameFields &
  Marks &
  TorrentTexts & {
    readonly id: string
    readonly content: TorrentContent
    readonly categoryId: string
    readonly uploaderId: string
    readonly uploaderRole: Viewer['role']
    readonly description: string
    readonly externalIds: ExternalIds
    readonly state: TorrentState
    readonly stateReason: string | null
    readonly createdAt: Date
    /** Why it should be listed although it is a duplicate. */
    readonly duplicateReason: string | null
    /** Whether a duplicate without a reason is refused. */
    readonly refuseDuplicate: boolean
    /** Bytes of .torrent files that the uploader can store per UTC day; undefined for no limit. */
    readonly bytesPerDay: number | undefined
  }

/** Changes requested by the uploader or staff. */
export type TorrentEdit = {
  readonly name?: string | undefined
  readonly category?: string | undefined
  readonly description?: string | undefined
  readonly externalIds?: { readonly [Id in keyof ExternalIds]?: number | null | undefined } | undefined
  readonly anonymous?: boolean | undefined
  readonly internal?: boolean | undefined
  readonly scene?: boolean | undefined
  readonly nfo?: string | null | undefined
  readonly mediaInfo?: string | null | undefined
  readonly downloadPercent?: number | undefined
  readonly uploadPercent?: number | undefined
}

/** Changes to the row of a torrent. */
export type TorrentChanges = Omit<TorrentEdit, 'name' | 'category'> & {
  readonly name?: NameFields | undefined
  readonly categoryId?: string | undefined
  readonly state?: { readonly state: TorrentState; readonly reason: string | null } | undefined
}

/** Changes, and the actor if the admin log has to record them. */
export type DecidedChange = { readonly changes: TorrentChanges; readonly by: ActedBy | undefined }

/** The store of torrents. Each method is one atomic change, and only `purgeDeleted` sees deleted torrents. */
export type TorrentStore = {
  /**
   * @throws ApiError CONFLICT if a hash exists, the category was deleted, or a duplicate is refused; PAYLOAD_TOO_LARGE
   *   beyond `bytesPerDay`
   */
  create(torrent: NewTorrent): Promise<Torrent>
  byId(id: string): Promise<Torrent | undefined>
  /** The torrent with one of these info hashes. */
  byInfoHash(torrent: Pick<TorrentContent, 'infoHash' | 'infoHashV2'>): Promise<ListedTorrent | undefined>
  /** Other torrents of the same title that the viewer may see, except rejected ones, newest first. At most 100. */
  related(torrent: KnownRelease & { readonly id?: string }, viewer: Viewer): Promise<readonly RelatedTorrent[]>
  texts(id: string): Promise<TorrentTexts | undefined>
  /** A range of files, in the order of the torrent. */
  files(id: string, part: { readonly offset: number; readonly limit: number }): Promise<readonly TorrentFile[]>
  /** The bencoded info dictionary and piece layers. */
  source(id: string): Promise<Pick<TorrentContent, 'info' | 'pieceLayers'> | undefined>
  /** `decide` receives the locked torrent. The admin log records the change if it returns `by`. */
  change(id: string, decide: (current: Torrent) => DecidedChange): Promise<Torrent | undefined>
  /** The admin log records the deletion if `by` is given. */
  remove(id: string, reason: string, at: Date, by: ActedBy | undefined): Promise<Torrent | undefined>
  /** Why a moderator rejected a torrent with one of these info hashes, even if it has been deleted since. */
  rejectionOf(torrent: Pick<TorrentContent, 'infoHash' | 'infoHashV2'>): Promise<string | undefined>
  /** Removes torrents that were deleted before a time, with their accounting. @returns the number of torrents */
  purgeDeleted(before: Date): Promise<number>
}

/** The fields of an account that decide which torrents it can see. */
export type Viewer = Pick<Account, 'id' | 'role'>
type Downloader = Viewer & Pick<Account, 'canDownload' | 'passkey'>

export type Torrents = ReturnType<typeof createTorrents>

/** The catalogue of torrents: upload, search, download, edit, moderate, delete. */
export function createTorrents(deps: {
  store: TorrentStore
  torrentFiles: Pick<TorrentFileReader, 'read'>
  categories: Categories
  publish: PublishInvalidation
  clock: Clock
  /** With `manual` uploads of members wait for a moderator; with `manual` for both, their edits of approved torrents do. */
  site: Pick<SiteConfiguration, 'current'>
  /** Bytes of .torrent files that a member can store per day; 0 for no limit. */
  bytesPerDay: number
  /** The field `source` of the info dictionary of every torrent. */
  source: string
  publicUrl: string
  announceKeys: Pick<AnnounceKeys, 'of'>
  announceUrl: (passkey: string) => string
  /** The announce URL of browsers; undefined if WebSockets are disabled. */
  socketUrl: ((passkey: string) => string) | undefined
}) {
  const { store, categories, clock } = deps
  const inTurn = createTurns(FILES_AT_ONCE)

  const publishInvalidation = (torrent: Torrent): Promise<void> =>
    deps.publish(
      ...[torrent.infoHash, torrent.infoHashV2].flatMap((infoHash) =>
        infoHash === null ? [] : [{ kind: 'torrent', infoHash } as const],
      ),
    )

  /** The admin log does not record uploaders' changes to their own torrents, even if they are staff. */
  const actedByStaff = (torrent: Torrent, editor: Account): ActedBy | undefined =>
    torrent.uploader?.id === editor.id ? undefined : actedBy(clock, editor.id)

  /** Members see approved torrents and their own, staff see all. @throws ApiError NOT_FOUND */
  async function findVisible(id: string, viewer: Viewer): Promise<Torrent> {
    const torrent = isId(id) ? await store.byId(id) : undefined
    if (torrent === undefined || !maySee(torrent, viewer)) throw notFound()
    return torrent
  }

  /** The .torrent file with a passkey or an announce key; undefined if the torrent was deleted. */
  const makeFile = ({ id, createdAt }: Torrent, passkey: string): Promise<Buffer | undefined> =>
    inTurn(async () => {
      const content = await store.source(id)
      return (
        content &&
        writeTorrentFile(content, {
          announceUrl: deps.announceUrl(passkey),
          furtherTiers: deps.socketUrl ? [[deps.socketUrl(passkey)]] : [],
          comment: `${deps.publicUrl}/torrents/${id}`,
          createdAt,
        })
      )
    })

  /** A torrent that the editor can change. @throws ApiError NOT_FOUND or FORBIDDEN */
  async function findEditable(id: string, editor: Account): Promise<Torrent> {
    const torrent = await findVisible(id, editor)
    if (!mayEdit(torrent, editor)) throw apiError('FORBIDDEN', 'Only the uploader and staff can change this torrent.')
    return torrent
  }

  return {
    findVisible,

    /**
     * Adds a torrent to the catalogue. It is made private and marked with `source`, so its info hash may differ from
     * that of the uploaded file. A torrent that was rejected before waits for a moderator, who sees the reason.
     *
     * @throws ApiError BAD_REQUEST naming the problem of the file or category; FORBIDDEN if a member marks it as internal;
     *   CONFLICT if the catalogue contains it, or it is a duplicate and to be refused then; PAYLOAD_TOO_LARGE if a member
     *   has used up today's quota
     */
    async upload(
      by: Account,
      upload: {
        bytes: Buffer
        name: string | undefined
        category: string
        description: string
        externalIds: ExternalIds
        duplicateReason: string | null
        refuseDuplicate: boolean
      } & Marks &
        TorrentTexts,
    ): Promise<Torrent> {
      requireStaff(by, upload.internal)
      const { bytes, name: chosenName, category: slug, ...details } = upload
      const content = await deps.torrentFiles.read(bytes, deps.source, by.id)
      const name = chosenName ?? content.name
      const release = parseReleaseName(name)
      const category = await categories.forRelease(slug, release)
      const rejection = by.role === 'member' ? await store.rejectionOf(content) : undefined
      const { uploadApproval } = await deps.site.current()
      const waits = rejection !== undefined || (uploadApproval === 'manual' && by.role === 'member')
      const torrent = await store.create({
        ...details,
        id: newId(),
        content,
        categoryId: category.id,
        uploaderId: by.id,
        uploaderRole: by.role,
        state: waits ? 'pending' : 'approved',
        stateReason: rejection === undefined ? null : `Rejected before: ${rejection}`,
        createdAt: new Date(clock.now()),
        ...nameFieldsOf(name, release),
        bytesPerDay: by.role === 'member' && deps.bytesPerDay > 0 ? deps.bytesPerDay : undefined,
      })
      await publishInvalidation(torrent)
      return torrent
    },

    /** Other torrents of the same title that the viewer may see, newest first. */
    related: (torrent: Torrent, viewer: Viewer): Promise<readonly RelatedTorrent[]> => store.related(torrent, viewer),

    texts: (id: string) => store.texts(id),

    /** A page of the files of a torrent, in their original order. @throws ApiError NOT_FOUND */
    async files(
      id: string,
      viewer: Account,
      { page, limit }: { readonly page: number; readonly limit: number },
    ): Promise<{ items: readonly TorrentFile[]; total: number }> {
      const torrent = await findVisible(id, viewer)
      return {
        items: await store.files(torrent.id, { offset: (page - 1) * limit, limit }),
        total: torrent.fileCount,
      }
    },

    /**
     * The .torrent file with the viewer's passkey, or with the announce key of the token of the request. Uploaders can
     * download their own torrents while these are pending, and if their downloads are disabled.
     *
     * @throws ApiError NOT_FOUND, or FORBIDDEN if the viewer's downloads are disabled or the torrent was rejected
     */
    async download(
      id: string,
      viewer: Downloader,
      tokenId: string | undefined,
    ): Promise<{ name: string; bytes: Buffer }> {
      const torrent = await findVisible(id, viewer)
      const own = torrent.uploader?.id === viewer.id
      if (torrent.state === 'rejected') throw apiError('FORBIDDEN', 'This torrent was rejected.')
      if (!viewer.canDownload && !own) throw apiError('FORBIDDEN', 'Downloads are disabled for your account.')
      const key = tokenId === undefined ? viewer.passkey : await deps.announceKeys.of(tokenId)
      const bytes = await makeFile(torrent, key)
      if (bytes === undefined) throw notFound()
      return { name: torrent.name, bytes }
    },

    /**
     * Edits a torrent. A rejected one that its uploader edits is reviewed again.
     *
     * @throws ApiError NOT_FOUND, FORBIDDEN, or BAD_REQUEST if the category does not exist
     */
    async edit(id: string, editor: Account, edit: TorrentEdit): Promise<Torrent> {
      const torrent = await findEditable(id, editor)
      const changesRates = edit.downloadPercent !== undefined || edit.uploadPercent !== undefined
      if (changesRates && editor.role === 'member')
        throw apiError('FORBIDDEN', 'Only staff can change downloadPercent and uploadPercent.')
      requireStaff(editor, edit.internal !== undefined && edit.internal !== torrent.internal)
      const { name, category, ...others } = edit
      const release = parseReleaseName(name ?? torrent.name)
      const chosen = category === undefined ? undefined : await categories.forRelease(category, release)
      const changes: TorrentChanges = {
        ...others,
        name: name === undefined ? undefined : nameFieldsOf(name, release),
        categoryId: chosen?.id,
      }
      const by = changesRates ? actedBy(clock, editor.id) : actedByStaff(torrent, editor)
      const { uploadApproval, editApproval } = await deps.site.current()
      const isModerated = uploadApproval === 'manual' && editor.role === 'member'
      const decide = (current: Torrent): DecidedChange => {
        const isApproved = current.state === 'approved'
        const isRejected = current.state === 'rejected' && editor.role === 'member'
        const changed = changedContent(current, { ...edit, category: chosen?.slug })
        if (!isRejected && (!isModerated || !isApproved || changed.length === 0)) return { changes, by }
        const what = changed.length === 0 ? 'details' : changed.join(', ')
        // The moderator who reviews it again may be another one.
        const before = isRejected && current.stateReason ? `. Rejected before: ${current.stateReason}` : ''
        const state = { state: 'pending', reason: `Changed by its uploader: ${what}${before}` } as const
        const waits = isRejected || editApproval === 'manual'
        return { changes: waits ? { ...changes, state } : changes, by: actedBy(clock, editor.id) }
      }
      return publishChange(await store.change(torrent.id, decide))
    },

    /**
     * Approves or rejects.
     *
     * @param version the one that the moderator saw, if known
     * @throws ApiError NOT_FOUND, or CONFLICT if the torrent has another version
     */
    async moderate(
      id: string,
      state: { readonly state: TorrentState; readonly reason: string | null },
      by: Account,
      version?: string,
    ): Promise<Torrent> {
      const decide = (current: Torrent): DecidedChange => {
        if (version !== undefined && version !== current.version)
          throw apiError('CONFLICT', 'This torrent was changed or decided in the meantime. Review it again.')
        return { changes: { state }, by: actedBy(clock, by.id) }
      }
      return publishChange(isId(id) ? await store.change(id, decide) : undefined)
    },

    /** Deletes a torrent. Announces receive the reason for 30 days. @throws ApiError NOT_FOUND or FORBIDDEN */
    async remove(id: string, editor: Account, reason: string | undefined): Promise<void> {
      const torrent = await findEditable(id, editor)
      const own = torrent.uploader?.id === editor.id
      const defaultReason = own ? 'Deleted by its uploader' : 'Deleted by staff'
      const by = actedByStaff(torrent, editor)
      await publishChange(await store.remove(torrent.id, reason ?? defaultReason, new Date(clock.now()), by))
    },

    purgeDeleted: () => store.purgeDeleted(new Date(clock.now() - DELETED_KEPT_MS)),
  }

  /** Invalidates cached copies of a torrent. @throws ApiError NOT_FOUND if it does not exist */
  async function publishChange(changed: Torrent | undefined): Promise<Torrent> {
    if (changed === undefined) throw notFound()
    await publishInvalidation(changed)
    return changed
  }
}

/** The moderated fields that an edit changes. */
function changedContent(current: Torrent, edited: TorrentEdit): readonly string[] {
  const fields = ['name', 'category', 'description'] as const
  return [
    ...fields.filter((field) => edited[field] !== undefined && edited[field] !== current[field]),
    ...(edited.nfo ? ['NFO'] : []),
    ...(edited.mediaInfo ? ['MediaInfo'] : []),
  ]
}

/** Marks that only staff may set. @throws ApiError FORBIDDEN */
function requireStaff(user: Viewer, isInternal: boolean): void {
  if (isInternal && user.role === 'member') throw apiError('FORBIDDEN', 'Only staff can set internal.')
}

/** Whether a torrent is visible. */
export function maySee(torrent: ListedTorrent, viewer: Viewer): boolean {
  return torrent.state === 'approved' || mayEdit(torrent, viewer)
}

function mayEdit(torrent: ListedTorrent, user: Viewer): boolean {
  return user.role !== 'member' || torrent.uploader?.id === user.id
}

function notFound() {
  return apiError('NOT_FOUND', 'There is no such torrent.')
}

/** The codes of {@link TorrentError}, with the beginning of the message. */
export const TORRENT_ERRORS = {
  invalid_bencode: 'The file is not valid bencode',
  not_a_dictionary: 'The file is not a dictionary',
  missing_info: 'The file has no info dictionary',
  encrypted: 'The content is encrypted',
  unsupported_version: 'The meta version is not supported',
  invalid_name: 'The name is missing, empty, not UTF-8 or not a plain file name',
  invalid_piece_length: 'The piece length is not a power of two from 16 KiB to the allowed maximum',
  invalid_pieces: 'The piece hashes are missing or not a multiple of 20 bytes',
  piece_count_mismatch: 'The number of piece hashes does not fit the total size',
  invalid_files: 'The list of files is missing or malformed',
  too_many_files: 'There are more files than allowed',
  invalid_length: 'A file length is missing, negative or too large',
  invalid_path: 'A file path is missing, too long or deep, not UTF-8 or leaves its folder',
  duplicate_path: 'Two files have the same path, or a file has the path of a folder',
  symbolic_link: 'Symbolic links are not accepted',
  no_content: 'There is nothing to share: the total size is zero',
  invalid_private: 'The private flag is neither 0 nor 1',
  invalid_file_tree: 'The file tree is missing or malformed',
  invalid_pieces_root: 'A pieces root is missing or not 32 bytes',
  invalid_piece_layers: 'The piece layers are missing, malformed or do not fit the files',
  piece_layer_mismatch: 'A piece layer does not hash to its pieces root',
  hybrid_mismatch: 'The file lists of the two versions in a hybrid torrent differ',
} as const

export type TorrentErrorCode = keyof typeof TORRENT_ERRORS

/** Thrown for refused .torrent files. `cause` is the `BencodeError` if the code is `invalid_bencode`. */
export class TorrentError extends Error {
  override readonly name = 'TorrentError'
  readonly code: TorrentErrorCode

  constructor(code: TorrentErrorCode, options?: ErrorOptions) {
    super(TORRENT_ERRORS[code], options)
    this.code = code
  }
}

/** The tag of torrents whose download is not charged to the caller. autobrr knows it by this name. */
export const FREELEECH = 'freeleech'

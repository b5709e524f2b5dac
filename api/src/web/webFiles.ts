/** One file of the interface as it is sent. */
export interface WebFile {
  readonly type: string;
  /** The strong tag of the plain bytes; a compressed form is another representation, and gets one of its own. */
  readonly tag: string;
  readonly uncompressed: Buffer;
  readonly br?: Buffer;
  readonly gzip?: Buffer;
}

/** The built interface, in memory. */
export interface WebFiles {
  /** The page that all its addresses begin with. */
  readonly index: Buffer;
  /** What the page loads, by its name below `/assets/`. */
  readonly assets: ReadonlyMap<string, WebFile>;
}
